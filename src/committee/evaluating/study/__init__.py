"""Compare learners over many tables, in a store that can be resumed."""
