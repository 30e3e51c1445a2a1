"""The tasks of `running.py`, in a separate module so that other processes can import them."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from committee import RandomForestClassifier

MEMBERS = {
    "nothing": None,
    "logistic regression": LogisticRegression(),
    "decision tree": DecisionTreeClassifier(),
    "forest of ten trees": RandomForestClassifier(n_estimators=10, n_jobs=1),
}


def table():
    """Return the breast cancer table with scaled columns: 569 rows, 30 columns."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def fit(name, X, y, seed):
    """Fit a member with a seed, or do nothing."""
    member = MEMBERS[name]
    if member is None:
        return None
    return type(member)(**member.get_params() | {"random_state": seed}).fit(X, y)
