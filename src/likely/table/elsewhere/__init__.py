"""Tables that must be got first: from an address, by the log of a Delta or Iceberg table, of a dataset, of what is not
computed yet. Imports formats and the contract of a source; knows no cell.
"""
