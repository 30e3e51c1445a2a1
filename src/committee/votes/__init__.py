"""Votes: arrays of them, votes that are honest, and the folds that make them so."""
