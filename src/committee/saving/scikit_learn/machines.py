"""Support vector machines, neighbours and networks of scikit-learn: what each of them keeps.

The library behind support vector machines is written in C and follows its arrays without asking, so all of
them are checked against each other. The trees behind neighbours are not written: they are grown again, from
the rows, by a fit.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from committee.saving.attributes import (
    Sizes,
    Wrong,
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
    told,
    tuple_of,
)
from committee.saving.scikit_learn.listed import COLUMNS, Listed, Named, listed_estimator, set_attributes
from committee.saving.scikit_learn.sparse_matrices import sparse

SVM_PARAMETERS = {
    "kernel": one_of("linear", "poly", "rbf", "sigmoid", "precomputed"),
    "degree": integer(0, 100),
    "coef0": number(),
    "C": number(),
    "epsilon": number(),
    "tol": number(),
    "shrinking": boolean,
    "probability": one_of(True, False, "deprecated"),
    "cache_size": number(),
    "decision_function_shape": one_of("ovr", "ovo"),
    "break_ties": boolean,
}
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
    "fit_status_": told,
}
SVM_STORY = {"n_iter_": told, "_num_iter": told, "_effective_probability": boolean}


def dual_coefficients(n_rows: str | int) -> Any:
    """The weights of the support vectors in each decision."""
    return either(floats(n_rows, "vectors", of=DOUBLES), sparse(n_rows, "vectors", of=DOUBLES))


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
    set_attributes(estimator, fitted)
    if "_effective_probability" not in fitted:
        estimator._effective_probability = getattr(estimator, "probability", False) is True


def machine(name: str, *, classifies: bool) -> Listed:
    """A support vector machine with a kernel."""
    if classifies:
        first = {"classes_": labels(), "_n_support": integers("classes", of="int32")}
        n_rows: str | int = "other classes"
        n_curves: str | int = "pairs"
    else:
        first = {"_n_support": integers(2, low=-(2**31), of="int32")}
        n_rows = n_curves = 1
    decisions = {
        **dict.fromkeys(("dual_coef_", "_dual_coef_"), dual_coefficients(n_rows)),
        **dict.fromkeys(("intercept_", "_intercept_"), floats(n_curves, of=DOUBLES)),
        **dict.fromkeys(("_probA", "_probB"), either(floats(0, of=DOUBLES), floats(n_curves, of=DOUBLES))),
    }
    weights = {"class_weight_": floats("classes", of=DOUBLES)} if classifies else {}
    return Listed(
        "sklearn.svm",
        name,
        {**first, **SVM_VECTORS, **decisions, **weights},
        SVM_STORY,
        parameters=SVM_PARAMETERS,
        check=check_vectors,
        complete=complete_machine,
    )


# Rows that are compared with new ones, as they were given.
ROWS = either(
    floats("rows", "features", missing=True),
    integers("rows", "features", low=-(2**63)),
    booleans("rows", "features"),
    sparse("rows", "features"),
)
NEIGHBOUR_PARAMETERS = {
    "leaf_size": integer(1),
    "p": optional(number(0.0, np.inf)),
    "metric": text,
    "metric_params": optional(
        dict_of(text, either(number(), floats("features"), floats("features", "features")))
    ),
    "weights": one_of("uniform", "distance", None),
}
REGROWN = ("_tree", "n_samples_fit_", "effective_metric_params_")
NEIGHBOURS = {
    "_fit_X": ROWS,
    "_fit_method": one_of("kd_tree", "ball_tree", "brute"),
    "effective_metric_": told,
}
CLASS_CODES = {
    "outputs_2d_": boolean,
    "classes_": either(labels(), list_of(labels(None), "outputs")),
    "_y": either(integers("rows"), integers("rows", "outputs")),
}


def check_codes(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Each row has a class that there is."""
    classes, codes = fitted["classes_"], fitted["_y"]
    several = isinstance(classes, list)
    if fitted["outputs_2d_"] is not several or codes.ndim != 1 + several or not len(codes):
        raise Wrong("_y does not fit classes_")
    for column, known in zip(codes.T, classes, strict=True) if several else [(codes, classes)]:
        if not column.max() < len(known):
            raise Wrong(f"_y holds {column.max()}, and there are {len(known)} classes")


def fit_classes(estimator: Any, fitted: Named) -> None:
    """Fit the rows and their classes again."""
    classes, codes = fitted["classes_"], fitted["_y"]
    if isinstance(classes, list):
        y = np.column_stack([each[column] for each, column in zip(classes, codes.T, strict=True)])
    else:
        y = classes[codes]
    fit_again(estimator, fitted, y)


def fit_numbers(estimator: Any, fitted: Named) -> None:
    """Fit the rows and their numbers again."""
    fit_again(estimator, fitted, fitted["_y"])


def fit_again(estimator: Any, fitted: Named, y: np.ndarray) -> None:
    """Fit what keeps its rows anyway; the names of the columns are set after it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The first fit has shown them.
        estimator.fit(fitted["_fit_X"], y)
    for name in ("_fit_method", "effective_metric_", "n_features_in_"):
        if name in fitted and getattr(estimator, name) != fitted[name]:
            raise Wrong(f"{name} is {getattr(estimator, name)!r} after a fit instead of {fitted[name]!r}")
    set_attributes(estimator, {name: fitted[name] for name in COLUMNS if name in fitted})


def neighbours(name: str, learnt: Any, **how: Any) -> Listed:
    """A method of nearest neighbours."""
    return Listed(
        "sklearn.neighbors",
        name,
        {**NEIGHBOURS, **learnt},
        parameters=NEIGHBOUR_PARAMETERS,
        left_out=REGROWN,
        **how,
    )


NUMBERS = {
    "_y": either(
        floats("rows"),
        floats("rows", "outputs"),
        integers("rows", low=-(2**53)),
        integers("rows", "outputs", low=-(2**53)),
    )
}
NETWORK = {
    "n_layers_": integer(3),
    "n_outputs_": count("outputs"),
    "coefs_": list_of(floats(None, None)),
    "intercepts_": list_of(floats(None)),
    "out_activation_": one_of("identity", "logistic", "softmax", "exp"),
}
NETWORK_STORY = dict.fromkeys(
    ("n_iter_", "t_", "loss_", "loss_curve_", "best_loss_", "validation_scores_", "best_validation_score_"),
    told,
)
TRAINING_OF_NETWORKS = (
    "_random_state", "_optimizer", "_best_coefs", "_best_intercepts", "_no_improvement_count",
)  # fmt: skip


def check_layers(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Each layer takes what the one before it gives."""
    weights, offsets = fitted["coefs_"], fitted["intercepts_"]
    if not len(weights) == len(offsets) == fitted["n_layers_"] - 1:
        raise Wrong("coefs_, intercepts_ and n_layers_ do not fit each other")
    widths = [fitted["n_features_in_"], *(len(each) for each in offsets)]
    for i, matrix in enumerate(weights):
        if matrix.shape != (widths[i], widths[i + 1]):
            raise Wrong(f"coefs_[{i}] has shape {matrix.shape} instead of {(widths[i], widths[i + 1])}")
    if widths[-1] != sizes["outputs"]:
        raise Wrong(f"n_outputs_ is {sizes['outputs']} and the last layer has {widths[-1]}")
    n_classes = sizes.get("classes")
    if n_classes and widths[-1] not in (n_classes, 1 if n_classes == 2 else n_classes):
        raise Wrong(f"n_outputs_ is {widths[-1]}, and there are {n_classes} classes")


def network(name: str, learnt: Any) -> Listed:
    """A multi-layer perceptron."""
    return Listed(
        "sklearn.neural_network",
        name,
        {"n_features_in_": count("features"), **learnt, **NETWORK},
        NETWORK_STORY,
        parameters={"activation": one_of("identity", "logistic", "tanh", "relu")},
        left_out=TRAINING_OF_NETWORKS,
        check=check_layers,
    )


MACHINES = (
    machine("SVC", classifies=True),
    machine("SVR", classifies=False),
    neighbours("KNeighborsClassifier", CLASS_CODES, check=check_codes, complete=fit_classes),
    neighbours("KNeighborsRegressor", NUMBERS, complete=fit_numbers),
    network(
        "MLPClassifier",
        {"classes_": labels(), "_label_binarizer": listed_estimator("sklearn.preprocessing.LabelBinarizer")},
    ),
    network("MLPRegressor", {}),
)
