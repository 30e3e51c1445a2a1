"""Provide a pool of members and their votes, the same for every peer that selects among them.

The first process that needs the votes stores them next to the raw results. So peers that need another version
of scikit-learn start from the same bytes.
"""

from typing import NamedTuple

import numpy as np

import results
from tables import two_classes

N_MEMBERS, N_NEIGHBOURS = 50, 7


class Pool(NamedTuple):
    """Known rows with their classes, new rows, and the votes of all members on both."""

    known_X: np.ndarray
    known_y: np.ndarray
    known_votes: np.ndarray
    new_X: np.ndarray
    new_votes: np.ndarray


def pool(*, quick):
    """Return the votes of trees of depth 6 on 20,000 known and 20,000 new rows.

    The trees are fitted on bootstrap samples of 10,000 other rows.
    """
    n_rows = 1_000 if quick else 20_000
    path = results.FOLDER / "raw" / f"dynamic_pool_{n_rows}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **_made(n_rows)._asdict())
    with np.load(path) as stored:
        return Pool(**stored)


def standardised(votes):
    """Return the pool with columns scaled to mean 0 and standard deviation 1 on the known rows."""
    center, spread = votes.known_X.mean(axis=0), votes.known_X.std(axis=0)
    return votes._replace(known_X=(votes.known_X - center) / spread, new_X=(votes.new_X - center) / spread)


def _made(n_rows):
    from sklearn.tree import DecisionTreeClassifier

    n_fitted = n_rows // 2
    split = two_classes(n_rows=n_fitted + n_rows, n_test=n_rows)
    rng = np.random.default_rng(0)
    known, new = [], []
    for member in range(N_MEMBERS):
        rows = rng.integers(0, n_fitted, n_fitted)
        tree = DecisionTreeClassifier(max_depth=6, max_features="sqrt", random_state=member)
        tree.fit(split.X_train[rows], split.y_train[rows])
        known.append(tree.predict_proba(split.X_train[n_fitted:]))
        new.append(tree.predict_proba(split.X_test))
    return Pool(
        split.X_train[n_fitted:], split.y_train[n_fitted:], np.array(known), split.X_test, np.array(new)
    )
