"""Store the votes of members on held-out rows, to reuse them with any rule and with later members."""
