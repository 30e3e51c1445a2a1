"""Record the selections of DESlib for `test_deslib_cases.py`, which must run without DESlib.

The cases are small tables whose numbers are exact in binary, with votes of members that are right on
different rows. The file contains, for each method, the competence of each member on each new row, the members
that DESlib selects, and the predicted class. DESlib needs an old scikit-learn, so it gets a separate
environment:

    make benchmarks/.venv-deslib/deslib
    benchmarks/.venv-deslib/bin/python benchmarks/deslib_cases.py
"""

import json
from pathlib import Path

import deslib
import numpy as np
from deslib.dcs.a_posteriori import APosteriori
from deslib.dcs.a_priori import APriori
from deslib.dcs.lca import LCA
from deslib.dcs.mcb import MCB
from deslib.dcs.ola import OLA
from deslib.des.des_knn import DESKNN
from deslib.des.des_p import DESP
from deslib.des.knop import KNOP
from deslib.des.knora_e import KNORAE
from deslib.des.knora_u import KNORAU
from deslib.des.meta_des import METADES
from deslib.des.probabilistic import DESKL, RRC
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors

OUT = Path(__file__).parents[1] / "tests" / "combining" / "selection" / "deslib_cases.json"
N_KNOWN, N_NEW, N_MEMBERS, N_COLUMNS, N_NEIGHBOURS = 60, 40, 7, 3, 7
# Enough members that DES-kNN selects only some of the accurate half.
N_MANY = 20
METHODS = {
    "ola": OLA,
    "lca": LCA,
    "mcb": MCB,
    "a_priori": APriori,
    "a_posteriori": APosteriori,
    "knora_e": KNORAE,
    "knora_u": KNORAU,
    "des_p": DESP,
    "des_rrc": RRC,
    "des_kl": DESKL,
    "knop": KNOP,
    "des_knn": DESKNN,
    "meta_des": METADES,
}


class Recorded(ClassifierMixin, BaseEstimator):
    """A member with stored votes; it identifies rows by their first column."""

    def __init__(self, keys, votes):
        self.keys, self.votes = keys, votes
        self.classes_ = np.arange(votes.shape[1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.votes[np.searchsorted(self.keys, X[:, 0])]

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def main():
    recorded = {
        "about": f"DESlib {deslib.__version__}; written by benchmarks/deslib_cases.py",
        "n_neighbours": N_NEIGHBOURS,
        "cases": [case(n_classes, seed) for n_classes, seed in ((2, 1), (3, 2), (5, 3))],
        "many_members": case(3, 4, N_MANY, ("des_knn",)),
    }
    OUT.write_text(json.dumps(recorded) + "\n", encoding="utf-8")
    print(f"{OUT.name}: {OUT.stat().st_size:,} bytes")


def case(n_classes, seed, n_members=N_MEMBERS, names=tuple(METHODS)):
    X, y, votes = table(n_classes, seed, n_members)
    members = [Recorded(X[:, 0], vote) for vote in votes]
    known, new = np.split(np.random.default_rng(seed).permutation(len(X)), [N_KNOWN])
    methods = {}
    for name in names:
        make = METHODS[name]
        is_everywhere = name in ("des_rrc", "des_kl")
        neighbours = N_KNOWN if is_everywhere else N_NEIGHBOURS
        method = (
            make(members, random_state=0) if is_everywhere else make(members, k=neighbours, random_state=0)
        )
        method.fit(X[known], y[known])
        distances, nearest = NearestNeighbors(n_neighbors=neighbours).fit(X[known]).kneighbors(X[new])
        competence, selected = answer(name, method, votes[:, new].transpose(1, 0, 2), distances, nearest)
        methods[name] = {
            "competence": np.asarray(competence, dtype=float).round(9).tolist(),
            "selected": np.asarray(selected, dtype=int).tolist(),
            "predicted": method.predict(X[new]).tolist(),
        }
    return {
        "n_classes": n_classes,
        "X": in_units(X[known], 1024),
        "y": y[known].tolist(),
        "votes": in_units(votes[:, known], 256),
        "new_X": in_units(X[new], 1024),
        "new_votes": in_units(votes[:, new], 256),
        "methods": methods,
    }


def table(n_classes, seed, n_members):
    """Draw a table in units of 1/1024 and votes of noisy linear members in units of 1/256."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2048, 2048, size=(N_KNOWN + N_NEW, N_COLUMNS)) / 1024
    X = X[np.unique(X[:, 0], return_index=True)[1]]
    directions = rng.normal(size=(n_classes, N_COLUMNS))
    y = (X @ directions.T + 0.5 * rng.normal(size=(len(X), n_classes))).argmax(axis=1)
    votes = []
    for _ in range(n_members):
        supports = np.exp(1.5 * X @ (directions + 0.8 * rng.normal(size=directions.shape)).T)
        shares = np.floor(256 * supports / supports.sum(axis=1, keepdims=True))
        shares[np.arange(len(X)), supports.argmax(axis=1)] += 256 - shares.sum(axis=1)
        votes.append(shares / 256)
    return X, y, np.array(votes)


def in_units(numbers, unit):
    """Return numbers as integer multiples of 1 / unit."""
    return (numbers * unit).astype(int).tolist()


def answer(name, method, probabilities, distances, nearest):
    """Return the competence and the selection. The selection of DES-kNN also depends on diversity."""
    labels = probabilities.argmax(axis=2)
    if name == "des_knn":
        accuracy, diversity = method.estimate_competence(nearest, distances, labels)
        return accuracy, listed(method.select(accuracy, diversity), labels.shape[1])
    if name == "knop":
        competence = method.estimate_competence_from_proba(probabilities, nearest, distances)
    elif name == "meta_des":
        competence = method.estimate_competence_from_proba(nearest, probabilities, distances)
    else:
        competence = method.estimate_competence(nearest, distances, labels)
    selected = np.asarray(method.select(competence))
    # Methods that select a single member return its number.
    return competence, selected if selected.ndim == 2 and selected.shape[1] > 1 else listed(
        selected.reshape(-1, 1), labels.shape[1]
    )


def listed(numbers, n_members):
    """Return the numbers of members as a matrix of 0 and 1."""
    selected = np.zeros((len(numbers), n_members), dtype=int)
    np.put_along_axis(selected, np.asarray(numbers, dtype=int), 1, axis=1)
    return selected


if __name__ == "__main__":
    main()
