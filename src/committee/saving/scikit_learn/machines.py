"""Support vector machines and nearest neighbours of scikit-learn: what each of them keeps.

The library behind support vector machines is written in C and follows its arrays without asking, so all of
them are checked against each other. The trees behind neighbours are not written: they are grown again, from
the rows, by a fit.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from committee.saving.attributes import (
    Kind,
    Sizes,
    Wrong,
    anything,
    boolean,
    booleans,
    count,
    dict_of,
    either,
    floats,
    integer,
    integers,
    labels,
    list_of,
    number,
    one_of,
    optional,
    text,
    tuple_of,
)
from committee.saving.scikit_learn.listed import COLUMNS, Listed, Named, set_attributes
from committee.saving.scikit_learn.sparse_matrices import sparse

DOUBLES = "float64"
SVM_VECTORS = {
    "support_": integers("vectors", of="int32"),
    "support_vectors_": either(
        floats("vectors", "features", of=DOUBLES),
        sparse("vectors", "features", of=DOUBLES),
        floats(0, 0, of=DOUBLES),
    ),
    "_sparse": boolean,
    "_gamma": number(0.0, 1e15),
    "shape_fit_": tuple_of(integer(), count("features")),
    "fit_status_": anything,
}
# Numbers that the library takes as they are.
SVM_PARAMETERS = {"degree": integer(0, 100), "coef0": number(), "tol": number(), "cache_size": number()}


def check_vectors(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check what follows from more than one attribute of a support vector machine."""
    vectors = fitted["support_vectors_"]
    is_sparse = not isinstance(vectors, np.ndarray)
    for name in ("dual_coef_", "_dual_coef_"):
        if is_sparse is isinstance(fitted[name], np.ndarray) or fitted["_sparse"] is not is_sparse:
            raise Wrong(f"{name}, support_vectors_ and _sparse must all be sparse or none of them")
        # The library takes the stored numbers of a sparse matrix for all of them.
        if is_sparse and fitted[name].nnz != fitted[name].shape[0] * fitted[name].shape[1]:
            raise Wrong(f"{name} is not full")
    n_rows, support = fitted["shape_fit_"][0], fitted["support_"]
    if len(support) and not support.max() < n_rows:
        raise Wrong(f"support_ holds {support.max()}, and there were {n_rows} rows")
    is_empty = not is_sparse and vectors.shape == (0, 0)
    if len(support) and (parameters["kernel"] == "precomputed") is not is_empty:
        raise Wrong("support_vectors_ does not fit the kernel")
    is_classifier = "classes_" in fitted
    n_support = fitted["_n_support"] if is_classifier else fitted["_n_support"][:1]
    if n_support.min() < 0 or n_support.sum() != len(support):
        raise Wrong(f"_n_support does not add up to {len(support)} vectors")
    calibrates = fitted.get("_effective_probability", parameters.get("probability") is True)
    expected = len(fitted["intercept_"]) if is_classifier and calibrates else 0
    if len(fitted["_probA"]) != expected or len(fitted["_probB"]) != expected:
        raise Wrong(f"_probA and _probB must have {expected} numbers")


def complete_machine(estimator: Any, fitted: Named) -> None:
    """Set the attributes, and one that versions of scikit-learn before 1.9 do not write."""
    is_calibrated = getattr(estimator, "probability", False) is True
    set_attributes(estimator, {"_effective_probability": is_calibrated} | fitted)


def machine(name: str, first: dict[str, Kind], n_rows: str | int, n_curves: str | int) -> Listed:
    """Return the line of a support vector machine with a kernel."""
    weights = either(floats(n_rows, "vectors", of=DOUBLES), sparse(n_rows, "vectors", of=DOUBLES))
    curves = floats(n_curves, of=DOUBLES)
    decisions = {
        **dict.fromkeys(("dual_coef_", "_dual_coef_"), weights),
        **dict.fromkeys(("intercept_", "_intercept_"), curves),
        **dict.fromkeys(("_probA", "_probB"), either(floats(0, of=DOUBLES), curves)),
    }
    return Listed(
        f"sklearn.svm.{name}",
        {**first, **SVM_VECTORS, **decisions},
        {"n_iter_": anything, "_num_iter": anything, "_effective_probability": boolean},
        parameters=SVM_PARAMETERS,
        checks=(check_vectors,),
        complete=complete_machine,
    )


NEIGHBOURS = {
    # Rows that are compared with new ones, as they were given.
    "_fit_X": either(
        floats("rows", "features", missing=True),
        integers("rows", "features", low=-(2**63)),
        booleans("rows", "features"),
        sparse("rows", "features"),
    ),
    "_fit_method": one_of("kd_tree", "ball_tree", "brute"),
    "effective_metric_": anything,
}
METRIC_PARAMETERS = {
    "metric_params": optional(
        dict_of(text, either(number(), floats("features"), floats("features", "features")))
    )
}


def check_codes(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that each row has a class that there is."""
    classes, codes = fitted["classes_"], fitted["_y"]
    several = isinstance(classes, list)
    if fitted["outputs_2d_"] is not several or codes.ndim != 1 + several or not len(codes):
        raise Wrong("_y does not fit classes_")
    for column, known in zip(codes.T, classes, strict=True) if several else [(codes, classes)]:
        if not column.max() < len(known):
            raise Wrong(f"_y holds {column.max()}, and there are {len(known)} classes")


def fit_again(estimator: Any, fitted: Named) -> None:
    """Fit what keeps its rows anyway; the names of the columns are set after it."""
    classes, y = fitted.get("classes_"), fitted["_y"]
    if isinstance(classes, list):
        y = np.column_stack([each[column] for each, column in zip(classes, y.T, strict=True)])
    elif classes is not None:
        y = classes[y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The first fit has shown them.
        estimator.fit(fitted["_fit_X"], y)
    for name in ("_fit_method", "effective_metric_", "n_features_in_"):
        if name in fitted and getattr(estimator, name) != fitted[name]:
            raise Wrong(f"{name} is {getattr(estimator, name)!r} after a fit instead of {fitted[name]!r}")
    set_attributes(estimator, {name: fitted[name] for name in COLUMNS if name in fitted})


def neighbours(name: str, learnt: dict[str, Kind], **how: Any) -> Listed:
    """Return the line of a method of nearest neighbours."""
    return Listed(
        f"sklearn.neighbors.{name}",
        {**NEIGHBOURS, **learnt},
        parameters=METRIC_PARAMETERS,
        left_out=("_tree", "n_samples_fit_", "effective_metric_params_"),
        complete=fit_again,
        **how,
    )


MACHINES = (
    machine(
        "SVC",
        {
            "classes_": labels(),
            "_n_support": integers("classes", of="int32"),
            "class_weight_": floats("classes", of=DOUBLES),
        },
        "other classes",
        "pairs",
    ),
    machine("SVR", {"_n_support": integers(2, low=-(2**31), of="int32")}, 1, 1),
    neighbours(
        "KNeighborsClassifier",
        {
            "outputs_2d_": boolean,
            "classes_": either(labels(), list_of(labels(None), "outputs")),
            "_y": either(integers("rows"), integers("rows", "outputs")),
        },
        checks=(check_codes,),
    ),
    neighbours(
        "KNeighborsRegressor",
        {
            "_y": either(
                floats("rows"),
                floats("rows", "outputs"),
                integers("rows", low=-(2**53)),
                integers("rows", "outputs", low=-(2**53)),
            )
        },
    ),
)
