"""Make predictors, which predict few rows quickly without scikit-learn, from models and their files."""
