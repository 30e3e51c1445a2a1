"""Predict with fitted models of scikit-learn by numpy and the engine, without scikit-learn."""
