"""How much the columns count, by the trees of a forest."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted


class ImportancesByTree:
    """What forests tell of their columns: `_importances` has the sums of every tree, by column."""

    _importances: np.ndarray

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much the splits on each column lower the impurity, in the mean of the trees.

        They sum to 1, or are all 0.
        """
        mean = self._shares_by_tree().mean(axis=0)
        total = mean.sum()
        return mean / total if total > 0 else mean

    @property
    def feature_importances_std_(self) -> np.ndarray:
        """The standard deviation over the trees of `feature_importances_`."""
        return self._shares_by_tree().std(axis=0)

    def _shares_by_tree(self) -> np.ndarray:
        check_is_fitted(self)
        totals = self._importances.sum(axis=1, keepdims=True)
        return self._importances / np.where(totals > 0, totals, 1.0)
