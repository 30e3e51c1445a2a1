"""The task: read y, and turn votes into predictions.

In: the y of the user. Out: a `Classification` with a code for each row, or a `Regression` with a number for
each row. Both define the shape of votes, `(n_rows, n_outputs)`, and decode them, so that classifiers and
regressors can share their code. The weights of the rows are checked here too.

Decoding votes needs only numpy. scikit-learn and narwhals are imported by the functions that read y.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from committee.table.input_types import ArrayLike, Label, TargetLike
from committee.table.raw_column import is_missing

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

# Integer weights with a mean below this are repetitions of rows. Larger weights, for example of surveys, are
# numbers of similar rows that a row represents, and only their ratios matter.
REPETITIONS_END = 4
# The largest number of which weighted squares and products can be summed without overflow, for example by
# ridge regression.
LARGEST_SQUARED = 1e90
# Larger weights are divided by a power of two, so that their sums are finite. This changes no ratio.
LARGEST_WEIGHT = 2.0**64

# A target of whole numbers with more distinct values is for regression.
MOST_CLASSES = 20

ClassWeight: TypeAlias = Mapping[Label, float] | str | None

# Kinds of dtypes that need no conversion.
INTEGRAL = "biu"
NUMERIC = INTEGRAL + "f"
# Kinds that numpy converts to numbers of an unknown unit or meaning: timedelta, datetime and complex.
NO_NUMBERS = "mMc"


@dataclass(frozen=True, eq=False)
class Classification:
    """The task of predicting the class of each row.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.

    Examples
    --------
    >>> task, codes = Classification.of(["no", "yes", "no"])
    >>> codes
    array([0, 1, 0], dtype=int32)
    >>> task.decode(np.array([[0.2, 0.8], [0.5, 0.5]]))
    array(['yes', 'no'], dtype='<U3')
    """

    classes: np.ndarray

    @classmethod
    def of(cls, y: TargetLike, name: str = "y") -> tuple[Classification, np.ndarray]:
        """Find the classes of y, and the code of each row as int32. Errors use the name of y."""
        from sklearn.utils.multiclass import check_classification_targets

        labels = check_target(y, name)
        if labels.dtype.kind == "O":
            labels = one_sort_of_label(labels, name)
        if labels.dtype.kind == "O":
            # Hashing Python strings is faster than sorting them, and they are never continuous.
            classes = np.array(sorted(set(labels)), dtype=object)
            code_of = {label: code for code, label in enumerate(classes)}
            codes = np.fromiter(map(code_of.__getitem__, labels), dtype=np.int32, count=len(labels))
            check_classification_targets(codes)
            return cls(classes), codes
        check_finite(labels, name)
        classes = np.unique(labels)
        if labels.dtype.kind not in INTEGRAL or 2 * len(classes) > len(labels):
            # Integers are always classes. scikit-learn warns if most rows have a class of their own.
            check_classification_targets(labels)
        return cls(classes), np.searchsorted(classes, labels).astype(np.int32)

    @property
    def n_outputs(self) -> int:
        """The number of votes for a row, which is the number of classes."""
        return len(self.classes)

    def encode(self, y: TargetLike, name: str = "y") -> np.ndarray:
        """Return the codes of labels. Raise if one of them is not a class."""
        found, codes = Classification.of(y, name)
        known = {label: code for code, label in enumerate(self.classes.tolist())}
        labels = found.classes.tolist()
        if unseen := [label for label in labels if label not in known]:
            raise ValueError(
                f"{name} has the classes {unseen}, which the fit did not see. It saw {list(known)}. Drop "
                "those rows."
            )
        own: np.ndarray = np.array([known[label] for label in labels], dtype=np.int32)
        return own.take(codes)

    def decode(self, votes: np.ndarray) -> np.ndarray:
        """Return the label with the largest vote of each row. Of equal votes, the first label wins."""
        labels: np.ndarray = self.classes.take(votes.argmax(1))
        return labels


@dataclass(frozen=True)
class Regression:
    """The task of predicting a number for each row.

    Examples
    --------
    >>> task, values = Regression.of([1, 2.5])
    >>> values
    array([1. , 2.5])
    >>> task.decode(np.array([[0.5], [1.5]]))
    array([0.5, 1.5])
    """

    @classmethod
    def of(cls, y: TargetLike, name: str = "y") -> tuple[Regression, np.ndarray]:
        """Read y as float64. Errors use the name of y."""
        values = to_numbers(check_target(y, name), name, "Convert it, or use a classifier.")
        check_finite(values, name)
        return cls(), values

    @property
    def classes(self) -> None:
        """None, because there are no classes."""
        return None

    @property
    def n_outputs(self) -> int:
        """The number of votes for a row, which is one."""
        return 1

    def encode(self, y: TargetLike, name: str = "y") -> np.ndarray:
        """Return the numbers of y."""
        return np.ascontiguousarray(Regression.of(y, name)[1])

    def decode(self, votes: np.ndarray) -> np.ndarray:
        """Return the vote for each row."""
        return votes[:, 0]


def guessed_task(y: np.ndarray) -> str:
    """Infer the task from a target without missing values.

    Text and booleans are classes. Whole numbers are classes if they have two distinct values, or at most 20
    in at least three times as many rows. Other numbers are for regression.

    Examples
    --------
    >>> guessed_task(np.array(["a", "b"])), guessed_task(np.arange(100)), guessed_task(np.arange(100) % 3)
    ('classification', 'regression', 'classification')
    """
    if y.dtype.kind == "O" and all(type(value) in (int, float) for value in y):
        y = y.astype(np.float64)
    if y.dtype.kind not in "iuf":
        return "classification"
    distinct = np.unique(y)
    are_whole = y.dtype.kind != "f" or bool((distinct == np.floor(distinct)).all())
    are_few = len(distinct) == 2 or len(distinct) <= min(MOST_CLASSES, len(y) // 3)
    return "classification" if are_whole and are_few else "regression"


def weighted_median(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the lowest vote at which half of the total weight is reached.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows)
    weights : ndarray of shape (n_members,)

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> weighted_median(np.array([[1.0], [5.0], [3.0]]), np.array([1.0, 1.0, 3.0]))
    array([3.])
    """
    order = votes.argsort(axis=0, kind="stable")
    reached = weights[order].cumsum(axis=0)
    at = (reached >= 0.5 * reached[-1]).argmax(axis=0)
    rows = np.arange(votes.shape[1])
    medians: np.ndarray = votes[order[at, rows], rows]
    return medians


def codes_in(labels: ArrayLike, classes: np.ndarray) -> np.ndarray:
    """Return the positions of labels in an array of classes in any order.

    Examples
    --------
    >>> codes_in(["a", "b"], np.array(["b", "a"]))
    array([1, 0])
    >>> codes_in(["b", "c"], np.array(["b", "a"]))
    Traceback (most recent call last):
    ValueError: The label 'c' is not one of the classes ['b', 'a'].
    """
    labels = np.asarray(labels)
    check_one_sort(labels, classes)
    order = np.argsort(classes)
    codes: np.ndarray = order[np.searchsorted(classes, labels, sorter=order).clip(max=len(classes) - 1)]
    is_unknown = classes[codes] != labels
    if is_unknown.any():
        unknown = labels[is_unknown].tolist()[0]
        raise ValueError(f"The label {unknown!r} is not one of the classes {classes.tolist()}.")
    return codes


def check_one_sort(labels: np.ndarray, others: np.ndarray) -> None:
    """Raise if some labels are text and others are numbers."""
    kinds = labels.dtype.kind, others.dtype.kind
    if any(kind in "US" for kind in kinds) and any(kind in "fiub" for kind in kinds):
        raise ValueError(
            f"Some labels are text and others are numbers: {labels.dtype} and {others.dtype}. Convert them."
        )


def check_lengths(n_rows: int, y: object) -> None:
    """Raise scikit-learn's error if y and the table have different numbers of rows.

    Examples
    --------
    >>> check_lengths(3, [1, 2])
    Traceback (most recent call last):
    ValueError: Found input variables with inconsistent numbers of samples: [3, 2]
    """
    from sklearn.utils.validation import check_consistent_length

    if isinstance(y, np.ndarray) and y.ndim and len(y) == n_rows:
        return
    check_consistent_length(range(n_rows), y)


def row_weights(
    sample_weight: ArrayLike | None, n_rows: int, name: str = "sample_weight"
) -> np.ndarray | None:
    """Check the weights of the rows.

    Parameters
    ----------
    sample_weight : None, number or array-like of shape (n_rows,)
    n_rows : int
    name : str, default="sample_weight"
        The name of the weights in errors.

    Returns
    -------
    ndarray of float64 of shape (n_rows,), or None
        Huge weights are divided by a power of two, because only their ratios matter.

    Examples
    --------
    >>> row_weights(2, 3)
    array([2., 2., 2.])
    >>> row_weights([1, -1, 1], 3)
    Traceback (most recent call last):
    ValueError: sample_weight must be >= 0. Got -1.0.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        weights = np.full(n_rows, to_numbers(sample_weight, name))
    else:
        weights = to_numbers(sample_weight, name)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if weights.shape != (n_rows,):
        raise ValueError(f"{name}.shape == {weights.shape}, expected {(n_rows,)}!")
    check_weights(weights, name)
    return summable(weights)


def summable(weights: np.ndarray) -> np.ndarray:
    """Divide huge weights by a power of two, so that their sum is finite. No ratio changes by a bit.

    Examples
    --------
    >>> summable(np.array([2.0**1000, 2.0**999, 0])) / LARGEST_WEIGHT
    array([1. , 0.5, 0. ])
    """
    largest = weights.max(initial=0.0)
    if largest <= LARGEST_WEIGHT:
        return weights
    divided: np.ndarray = np.ldexp(weights, math.frexp(LARGEST_WEIGHT)[1] - math.frexp(largest)[1])
    return divided


def class_weights(
    class_weight: ClassWeight, task: Classification, codes: np.ndarray, row_weights: np.ndarray | None
) -> np.ndarray | None:
    """Multiply the weights of the rows by those of their classes.

    Parameters
    ----------
    class_weight : None, "balanced" or dict of label to weight
        "balanced" gives each class a weight inversely proportional to its number of rows. Rows of weight 0
        are not counted, and other weights of rows do not matter. Classes that are not in the dict have the
        weight 1. Labels of the dict that are not in y are an error, unless the dict contains all classes of
        y. This allows folds without rows of some class.
    task : Classification
    codes : ndarray of int of shape (n_rows,)
    row_weights : ndarray of shape (n_rows,) or None

    Returns
    -------
    ndarray of float64 of shape (n_rows,), or None

    Examples
    --------
    >>> task, codes = Classification.of(["no", "yes", "no"])
    >>> class_weights({"yes": 5}, task, codes, None)
    array([1., 5., 1.])
    >>> class_weights("balanced", task, codes, None)
    array([0.75, 1.5 , 0.75])
    """
    if class_weight is None:
        return row_weights
    if not isinstance(class_weight, Mapping):
        is_there = None if row_weights is None else (row_weights > 0).astype(np.float64)
        class_weight = balancing_weights(task, codes, is_there)
    by_row = dict_weights(class_weight, task)[codes]
    with np.errstate(over="ignore"):
        weights = by_row if row_weights is None else by_row * row_weights
    check_weights(weights, "class_weight")
    return summable(weights)


def balancing_weights(
    task: Classification, codes: np.ndarray, row_weights: np.ndarray | None
) -> dict[Label, float]:
    """Return weights of classes that are inverse to the total weight of their rows, or 1 if that is 0.

    Examples
    --------
    >>> task, codes = Classification.of(["no", "yes", "no"])
    >>> balancing_weights(task, codes, None), balancing_weights(task, codes, np.array([1.0, 2.0, 1.0]))
    ({'no': 0.75, 'yes': 1.5}, {'no': 1.0, 'yes': 1.0})
    """
    by_class = np.bincount(codes, weights=row_weights, minlength=task.n_outputs)
    even = np.count_nonzero(by_class) * by_class
    weighed = np.divide(by_class.sum(), even, out=np.ones(task.n_outputs), where=by_class > 0)
    return dict(zip(task.classes.tolist(), weighed.tolist(), strict=True))


def are_repetitions(weights: np.ndarray) -> bool:
    """Return whether weights are repetitions of rows: integers of a small mean over the positive ones.

    Examples
    --------
    >>> are_repetitions(np.array([2.0, 0.0, 5.0])), are_repetitions(np.array([189_778.0, 0.0, 5.0]))
    (True, False)
    """
    positive = weights[weights > 0]
    return bool((positive == np.floor(positive)).all() and positive.mean() < REPETITIONS_END)


def repeats_of(weights: np.ndarray) -> np.ndarray:
    """Return the weights if they are repetitions of rows. Otherwise return 1 for positive weights, else 0.

    Examples
    --------
    >>> repeats_of(np.array([2.0, 0.0, 5.0])), repeats_of(np.array([0.5, 0.0, 2.5]))
    (array([2, 0, 5]), array([1, 0, 1]))
    """
    return (weights if are_repetitions(weights) else weights > 0).astype(np.int64)


def scaled(weights: np.ndarray) -> np.ndarray:
    """Rescale weights to a mean of 1 over the positive ones, unless they are repetitions of rows.

    Penalties and priors are compared with sums of weights, so these sums must not depend on the unit of the
    weights.

    Examples
    --------
    >>> scaled(np.array([1e-9, 3e-9])), scaled(np.array([1.0, 2.0]))
    (array([0.5, 1.5]), array([1., 2.]))
    """
    return weights if are_repetitions(weights) else of_mean_one(weights)


def of_mean_one(weights: np.ndarray) -> np.ndarray:
    """Rescale weights to a mean of 1 over the positive ones."""
    # They are divided by the largest first, because the sum of huge weights overflows.
    shares: np.ndarray = weights / weights.max()
    shares /= shares[shares > 0].mean()
    return shares


def check_target(y: Any, name: str = "y") -> np.ndarray:
    """Convert y from any container to a 1-D array."""
    import narwhals.stable.v2 as nw
    from sklearn.utils.validation import column_or_1d

    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in NUMERIC and y.flags.c_contiguous:
        return y
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if isinstance(y, np.ma.MaskedArray):
        if np.ma.is_masked(y):
            raise missing_error(name)
        y = y.data
    if hasattr(y, "toarray"):
        raise ValueError(f"{name} is a {type(y).__name__}. Make it an array: {name}.toarray().ravel().")
    if nw.dependencies.is_into_dataframe(y):
        columns = list(nw.from_native(y, eager_only=True).iter_columns())
        array = np.column_stack([series_target(column, name) for column in columns])
    elif nw.dependencies.is_into_series(y):
        array = series_target(nw.from_native(y, series_only=True), name)
    else:
        array = np.asarray(y)
        if array.dtype.kind == "T":
            array = array.astype(object)
        if array.dtype.kind in "US" and not hasattr(y, "dtype"):
            # numpy has converted numbers and NaN to text because other labels are text.
            given = np.asarray(y, dtype=object)
            array = array if all(isinstance(label, str | bytes) for label in given.ravel()) else given
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is of dtype {array.dtype}. Take its real part.")
    if array.ndim == 2 and array.shape[1] > 1:
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {array.shape} instead. Fit one model per "
            "column."
        )
    target: np.ndarray = column_or_1d(array, warn=True)
    return target


def series_target(series: nw.Series[Any], name: str) -> np.ndarray:
    """Return the values of a series. Nulls are refused here, because not every library converts them."""
    if series.null_count():
        raise missing_error(name)
    return series.to_numpy()


def one_sort_of_label(labels: np.ndarray, name: str) -> np.ndarray:
    """Convert labels from Python objects to booleans or numbers, or keep text. Refuse a mix of types."""
    if any(is_missing(label) for label in labels):
        raise missing_error(name)
    if all(isinstance(label, str) for label in labels):
        return labels
    if all(isinstance(label, numbers.Real | np.bool_) for label in labels):
        return np.array(labels.tolist())
    names = sorted({type(label).__name__ for label in labels})
    raise ValueError(
        f"Unknown label type: {name} mixes {', '.join(names)}. Make all labels text, or all numbers."
    )


def check_finite(target: np.ndarray, name: str) -> None:
    """Raise if a number is not finite."""
    if target.dtype.kind != "f":
        return
    if np.isnan(target).any():
        raise missing_error(name)
    if np.isinf(target).any():
        raise ValueError(
            f"Input {name} contains infinity or a value too large for {target.dtype!r}. Drop those rows."
        )


def check_size(y: np.ndarray, largest: float = LARGEST_SQUARED, name: str = "y") -> None:
    """Raise if a number is so large that computations with it overflow.

    Examples
    --------
    >>> check_size(np.array([1.0, -1e200]))
    Traceback (most recent call last):
    ValueError: y must be between -1e+90 and 1e+90. Got -1e+200. Scale it.
    """
    found = y[np.abs(y).argmax()]
    if abs(found) > largest:
        raise ValueError(f"{name} must be between {-largest:g} and {largest:g}. Got {found}. Scale it.")


def check_weights(weights: np.ndarray, name: str) -> None:
    """Raise if weights are not finite, if one is negative or if all are zero."""
    if not np.isfinite(weights).all():
        raise ValueError(f"{name} must be finite. Got {weights[~np.isfinite(weights)][0]}.")
    if (weights < 0).any():
        raise ValueError(f"{name} must be >= 0. Got {weights.min()}.")
    if not weights.any():
        raise ValueError(f"{name} sets the weight of every row to zero. Pass a weight > 0 for at least one.")


def dict_weights(class_weight: Mapping[Label, float], task: Classification) -> np.ndarray:
    """Return the weight of each class."""
    labels = task.classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    without = [label for label in labels if label not in class_weight]
    if unknown and without:
        raise ValueError(f"class_weight has the labels {unknown}, which y does not have. It has {labels}.")
    return to_numbers([class_weight.get(label, 1.0) for label in labels], "class_weight")


def to_numbers(values: ArrayLike, name: str, way_out: str = "Convert them.") -> np.ndarray:
    """Convert values to float64, or raise an error that contains the reason.

    Examples
    --------
    >>> to_numbers([1, "many"], "quantiles")
    Traceback (most recent call last):
    ValueError: quantiles must be numbers (could not convert string to float: 'many'). Convert them.
    """
    try:
        dtype = np.asarray(values).dtype
        if dtype.kind not in NO_NUMBERS:
            return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{name} must be numbers ({reason}). {way_out}") from error
    raise ValueError(f"{name} must be numbers. Got {dtype}. {way_out}")


def missing_error(name: str) -> ValueError:
    """Return the error for a y with missing values."""
    return ValueError(f"Input {name} contains NaN. Drop the rows without a target.")
