"""Boost by gradients: gradient boosting and LogitBoost."""
