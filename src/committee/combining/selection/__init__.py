"""Select the members that decide: once for all rows, by region, or near each row."""
