"""Resample rows to estimate errors, variances and confidence intervals."""
