"""Provide gradient boosting and LogitBoost, which fit trees to derivatives of the loss."""
