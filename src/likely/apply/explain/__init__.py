"""One answer taken apart: its ledger of evidence, what would change it, how sure it is."""
