"""Draw rows again to estimate errors, variances and confidence intervals."""
