"""The peers of bagging and of rotation forests, behind the interface of `peers.py`.

Kinds of models: "bagged trees" are full trees on bootstrap samples; "bagged <member>" is bagging of an
estimator of scikit-learn in `MEMBERS`; "rotation forest" has the package's defaults, except for the number of
trees.
"""

import importlib
from collections.abc import Callable

from peers import THREADS, CommitteeModel, Peer, SklearnModel

TREES = "bagged trees"
ROTATION = "rotation forest"
# Members of other kinds: the module, the class, and parameters with which fits converge.
MEMBERS = {
    "bagged naive Bayes": ("sklearn.naive_bayes", "GaussianNB", {}),
    "bagged logistic regression": ("sklearn.linear_model", "LogisticRegression", {"max_iter": 200}),
    "bagged trees of scikit-learn": ("sklearn.tree", "DecisionTreeClassifier", {}),
    "bagged nearest neighbours": ("sklearn.neighbors", "KNeighborsClassifier", {}),
}


class Quiet(SklearnModel):
    """A peer with scikit-learn's interface whose model size is unknown."""

    def nbytes(self):
        return None


def member_of(kind):
    """Return the member of a kind of bagging; None is a full tree."""
    if kind == TREES:
        return None
    module, name, parameters = MEMBERS[kind]
    return getattr(importlib.import_module(module), name)(**parameters)


def committee_model(kind, *, n_estimators, seed, n_jobs=THREADS):
    committee = importlib.import_module("committee")
    if kind == ROTATION:
        return CommitteeModel(
            committee.RotationForestClassifier(n_estimators, n_jobs=n_jobs, random_state=seed)
        )
    wrapper: Callable = CommitteeModel if kind == TREES else Quiet
    return wrapper(
        committee.BaggingClassifier(member_of(kind), n_estimators, n_jobs=n_jobs, random_state=seed)
    )


def sklearn_model(kind, *, n_estimators, seed, n_jobs=THREADS):
    ensemble = importlib.import_module("sklearn.ensemble")
    bagging = ensemble.BaggingClassifier(member_of(kind), n_estimators, n_jobs=n_jobs, random_state=seed)
    return Quiet(bagging)


def intelex_model(kind, *, n_estimators, seed):
    """Return a forest that tries all columns in every node, which is bagging of trees."""
    forest = importlib.import_module("sklearnex.ensemble").RandomForestClassifier
    return Quiet(forest(n_estimators, max_features=None, n_jobs=THREADS, random_state=seed))


def aeon_model(kind, *, n_estimators, seed):
    module = importlib.import_module("aeon.classification.sklearn")
    return Quiet(module.RotationForestClassifier(n_estimators, n_jobs=THREADS, random_state=seed))


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            "committee",
            "committee",
            f"BaggingClassifier, RotationForestClassifier, n_jobs={THREADS}",
            (TREES, *MEMBERS, ROTATION),
            committee_model,
        ),
        Peer(
            "scikit-learn",
            "scikit-learn",
            f"BaggingClassifier, n_jobs={THREADS}",
            (TREES, *MEMBERS),
            sklearn_model,
        ),
        Peer(
            "scikit-learn-intelex",
            "scikit-learn-intelex",
            f"RandomForestClassifier, max_features=None, n_jobs={THREADS}",
            (TREES,),
            intelex_model,
        ),
        Peer("aeon", "aeon", f"RotationForestClassifier, n_jobs={THREADS}", (ROTATION,), aeon_model),
    )
}
