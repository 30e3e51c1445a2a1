"""Run DESlib on the pool of `dynamic_pool.py`, for its time and its selections. Needs DESlib's environment.

python benchmarks/deslib_pool.py <method> <n_rows> <file> [--quick]    writes the selections on new rows
"""

import sys

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors

from deslib_cases import METHODS, answer
from dynamic_pool import N_NEIGHBOURS, pool, standardised

# These methods use all known rows. DESlib makes an array of (rows, known rows, members), so it gets few rows
# at a time.
EVERYWHERE = ("des_rrc", "des_kl")
ROWS_AT_A_TIME = 50


class StoredVotes(ClassifierMixin, BaseEstimator):
    """A member with stored votes; it identifies a table by its first number."""

    def __init__(self, votes, starts):
        self.votes, self.starts = votes, starts
        self.classes_ = np.arange(votes.shape[1])
        self.labels = votes.argmax(axis=1)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        start = self.starts[X[0, 0]]
        return self.votes[start : start + len(X)]

    def predict(self, X):
        start = self.starts[X[0, 0]]
        return self.labels[start : start + len(X)]


class DeslibSelection:
    """A method of DESlib, which searches neighbours on all cores."""

    def __init__(self, method, votes):
        # Members return the votes of the pool, so the time does not contain predictions of trees.
        first = np.concatenate([votes.known_X[:, 0], votes.new_X[:, 0]])
        starts = {number: place for place, number in enumerate(first)}
        together = np.concatenate([votes.known_votes, votes.new_votes], axis=1)
        members = [StoredVotes(vote, starts) for vote in together]
        self.is_everywhere = method in EVERYWHERE
        near = {} if self.is_everywhere else {"k": N_NEIGHBOURS}
        self.method = METHODS[method](members, random_state=0, **near)

    def fit(self, votes):
        self.method.fit(votes.known_X, votes.known_y)

    def decide(self, X):
        step = ROWS_AT_A_TIME if self.is_everywhere else len(X)
        return np.concatenate([self.method.predict(X[i : i + step]) for i in range(0, len(X), step)])


def choices(name, n_rows, *, quick):
    """Return the members that DESlib selects on the first new rows, and the corrections for a comparison.

    Returns
    -------
    dict of str to ndarray of shape (n_rows, N_MEMBERS) or (n_rows,)
        selected: the selected members; candidates: the members among which it draws or, for des_kl, those
        that the paper's formula selects; is_tied: rows with a tie for the last selected member.
    """
    votes = standardised(pool(quick=quick))
    selection = DeslibSelection(name, votes)
    selection.fit(votes)
    n_near = len(votes.known_X) if selection.is_everywhere else N_NEIGHBOURS
    search = NearestNeighbors(n_neighbors=n_near).fit(votes.known_X)
    step = ROWS_AT_A_TIME if selection.is_everywhere else n_rows
    parts = []
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        distances, nearest = search.kneighbors(votes.new_X[rows])
        probabilities = votes.new_votes[:, rows].transpose(1, 0, 2)
        parts.append(_choice(name, selection.method, probabilities, distances, nearest))
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _choice(name, method, probabilities, distances, nearest):
    competence, selected = answer(name, method, probabilities, distances, nearest)
    candidates = selected = np.asarray(selected) > 0
    is_tied = np.zeros(len(selected), dtype=bool)
    if name in ("mcb", "a_priori", "a_posteriori"):
        competence = np.asarray(competence)
        candidates = competence.max(axis=1, keepdims=True) - competence < method.diff_thresh
    elif name == "des_knn":
        is_tied = _ties(method, *method.estimate_competence(nearest, distances, probabilities.argmax(axis=2)))
    elif name == "des_kl":
        source = method.C_src_
        method.C_src_ = np.where(method.DSEL_processed_, 2 - source, source)
        candidates = np.asarray(answer(name, method, probabilities, distances, nearest)[1]) > 0
        method.C_src_ = source
    return {"selected": selected, "candidates": candidates, "is_tied": is_tied}


def _ties(method, accuracy, diversity):
    """Return which rows have a tie between the last accurate or diverse member and the next one."""
    best = np.argsort(-accuracy, axis=1, kind="stable")
    ranked = np.take_along_axis(accuracy, best, axis=1)
    spread = np.sort(np.take_along_axis(diversity, best[:, : method.N_], axis=1), axis=1)
    if method.more_diverse:
        spread = spread[:, ::-1]
    last = method.J_
    same_spread = np.isclose(spread[:, last - 1], spread[:, min(last, spread.shape[1] - 1)])
    return np.isclose(ranked[:, method.N_ - 1], ranked[:, method.N_]) | same_spread


if __name__ == "__main__":
    name, n_rows, file = sys.argv[1:4]
    np.savez(file, **choices(name, int(n_rows), quick="--quick" in sys.argv))
