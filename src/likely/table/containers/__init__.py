"""Tables within other files: the one table of a zip archive, what xz has packed, a sheet of a workbook.

Imports formats, for files and tables in memory; which reader fits what is inside is for table/open.py.
"""
