"""Arrays of votes, honest (out-of-fold and out-of-bag) votes, and splits of rows."""
