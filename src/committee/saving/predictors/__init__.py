"""From a fitted model or its file to a function of rows, without scikit-learn."""
