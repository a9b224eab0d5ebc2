"""What people see: records turned into tables of words and numbers, without any row of the data."""
