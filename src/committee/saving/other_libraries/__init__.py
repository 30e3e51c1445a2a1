"""Store models of other libraries."""
