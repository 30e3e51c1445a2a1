"""Keep the votes of members on rows that they were not fitted on, for any rule and for later members."""
