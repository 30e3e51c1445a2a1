"""Return the votes of one member of any kind, with aligned classes.

Votes for classes are float32, which is precise enough; numbers stay float64.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from committee.combining.fixed_rules import one_hot
from committee.metrics.metric_table import Metric
from committee.saving.predictors.score_votes import class_scores, scores_by_class
from committee.table.input_types import TableLike
from committee.task import Classification, Regression, codes_in
from committee.votes.vote_arrays import NEARLY_ONE, as_shares, label_dtype

Task = Classification | Regression
# The classifiers of scikit-learn whose `predict` is the class of the highest probability, by their packages.
# Others may decide in another way, as NearestCentroid and FixedThresholdClassifier do.
PREDICT_HIGHEST = {
    "discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "ensemble": (
        "AdaBoostClassifier",
        "BaggingClassifier",
        "ExtraTreesClassifier",
        "HistGradientBoostingClassifier",
        "RandomForestClassifier",
    ),
    "linear_model": ("LogisticRegression", "LogisticRegressionCV"),
    "naive_bayes": ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "neighbors": ("KNeighborsClassifier",),
    "neural_network": ("MLPClassifier",),
    "tree": ("DecisionTreeClassifier", "ExtraTreeClassifier"),
}


def has_own_labels(member: BaseEstimator) -> bool:
    """Return whether `predict` of a classifier, fitted or not, may differ from its highest probability.

    Rules that read labels then use `predict`. Committee's own classifiers predict the class of the highest
    probability. The answer depends on the classes of the estimator and of those in it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import NearestCentroid
    >>> has_own_labels(NearestCentroid()), has_own_labels(LogisticRegression())
    (True, False)
    """
    if isinstance(member, Pipeline):
        return has_own_labels(member.steps[-1][1])
    if isinstance(member, FrozenEstimator | BaseSearchCV) or type(member).__name__ == "NumberedLabels":
        return has_own_labels(member.estimator)
    package, *parts = type(member).__module__.split(".")
    is_known = package == "sklearn" and type(member).__name__ in PREDICT_HIGHEST.get(parts[0], ())
    return not is_known and package != "committee"


def own_labels(estimator: BaseEstimator, model: BaseEstimator, X: TableLike, task: Task) -> np.ndarray | None:
    """Return the codes of the classes that a fitted estimator predicts, or None if its votes show them."""
    shows_labels = not hasattr(model, "predict_proba") or not has_own_labels(estimator)
    if shows_labels or not isinstance(task, Classification):
        return None
    return codes_in(model.predict(X), task.classes).astype(label_dtype(task.n_outputs))


def gives_scores(member: BaseEstimator) -> bool:
    """Return whether an estimator, fitted or not, has scores to calibrate and no probabilities."""
    return hasattr(member, "decision_function") and not hasattr(member, "predict_proba")


def check_gives_probabilities(member: BaseEstimator, wanted: str, way_out: str) -> None:
    """Raise if probabilities are needed and a member has none.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> check_gives_probabilities(LinearSVC(), "the metric 'neg_log_loss'", "Take 'accuracy'")
    Traceback (most recent call last):
    ValueError: LinearSVC has no predict_proba, and the metric 'neg_log_loss' is about probabilities. Take \
'accuracy', or wrap it in CalibratedClassifierCV.
    """
    if not hasattr(member, "predict_proba"):
        raise ValueError(
            f"{type(member).__name__} has no predict_proba, and {wanted} is about probabilities. {way_out}, "
            "or wrap it in CalibratedClassifierCV."
        )


def check_scored_by(member: BaseEstimator, metric: Metric) -> None:
    """Raise if a metric needs probabilities and a member has none."""
    if metric.needs_probabilities:
        check_gives_probabilities(member, f"the metric {metric.name}", "Take one of labels, as 'accuracy'")


def votes_of(
    model: BaseEstimator,
    X: TableLike,
    task: Task,
    *,
    as_scores: bool = False,
    is_crisp: bool = False,
    as_plausibilities: bool = False,
) -> np.ndarray:
    """Return the votes of a fitted estimator.

    Parameters
    ----------
    model : estimator
    X : table
    task : Classification or Regression
    as_scores : bool, default=False
        Whether a member that `gives_scores` returns these for a calibration, instead of crisp votes.
    is_crisp : bool, default=False
        Whether a member votes for its predicted class only, even if it has probabilities.
    as_plausibilities : bool, default=False
        Whether the probabilities need not sum to one. They are then not checked.

    Returns
    -------
    ndarray of float64, or of float32 for scores, of shape (n_rows, n_outputs)
        A class without training rows gets no vote, or the score minus infinity. Probabilities that do not
        sum to one are rescaled.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> task, _ = Classification.of(["a", "b", "c"])
    >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "c", "c"])
    >>> votes_of(model, [[1.5]], task).round(3)
    array([[1., 0., 0.]])
    """
    # Some members divide by 0, for example naive Bayes on constant columns. `finite` raises then.
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(task, Regression):
            return finite(np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1))
        if as_scores:
            return scores_of(model, X, task)
        if hasattr(model, "predict_proba") and not is_crisp:
            known = finite(np.asarray(model.predict_proba(X), dtype=np.float64))
            votes = aligned(known, codes_of(model, task), task, 0.0)
            return votes if as_plausibilities else rescaled(votes)
        return one_hot(codes_in(model.predict(X), task.classes), task.n_outputs)


def scores_of(model: BaseEstimator, X: TableLike, task: Classification) -> np.ndarray:
    """Return a score for each class as float32, the highest for the class that is predicted.

    A model without a score for each class gives 1 to the predicted class and 0 to others.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> task, y = Classification.of(["a", "b", "c"])
    >>> machine = SVC(decision_function_shape="ovo").fit([[1.0], [5.0], [9.0]], task.classes)
    >>> scores_of(machine, [[5.5]], task)
    array([[0., 1., 0.]], dtype=float32)
    """
    codes, predicted = codes_of(model, task), codes_in(model.predict(X), task.classes)
    scores = None
    if hasattr(model, "decision_function") and not (task.n_outputs > 2 and scores_pairs(model)):
        found = finite(np.asarray(model.decision_function(X), dtype=np.float64))
        scores = scores_by_class(found, len(codes))
    return class_scores(scores, codes, predicted, task.n_outputs)


def scores_pairs(model: BaseEstimator) -> bool:
    """Return whether a model scores pairs of classes. For three classes the shape does not show it.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> scores_pairs(SVC()), scores_pairs(SVC(decision_function_shape="ovo"))
    (False, True)
    """
    if not hasattr(model, "get_params"):  # a plain model
        return getattr(model, "decision_function_shape", "") == "ovo"
    given = (model.estimator if isinstance(model, FrozenEstimator) else model).get_params().items()
    return any(name.endswith("decision_function_shape") and value == "ovo" for name, value in given)


def finite(votes: np.ndarray) -> np.ndarray:
    """Return votes; raise unless they are finite."""
    if not np.isfinite(votes).all():
        raise ValueError("It votes with NaN or infinity.")
    return votes


def rescaled(votes: np.ndarray) -> np.ndarray:
    """Rescale probabilities, so that they sum to one."""
    if (votes < 0).any():
        raise ValueError("It votes with a negative probability.")
    return as_shares(votes, NEARLY_ONE)


def codes_of(model: BaseEstimator, task: Classification) -> np.ndarray:
    """Return the codes of the classes of a fitted classifier."""
    known = np.asarray(model.classes_)
    if known.dtype == task.classes.dtype and np.array_equal(known, task.classes):
        return np.arange(task.n_outputs)
    return codes_in(known, task.classes)


def aligned(votes: np.ndarray, codes: np.ndarray, task: Classification, absent: float) -> np.ndarray:
    """Extend votes for some classes to all of them, with a value for the others."""
    if votes.ndim != 2 or votes.shape[1] != len(codes):
        raise ValueError(f"It votes in the shape {votes.shape} on {len(codes)} classes.")
    every = np.full((len(votes), task.n_outputs), absent)
    every[:, codes] = votes
    return every
