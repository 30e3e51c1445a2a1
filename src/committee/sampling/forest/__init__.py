"""Grow random forests and extremely randomised trees."""
