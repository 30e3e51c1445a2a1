"""Select the members that decide: for all rows, for each region, or for each row."""
