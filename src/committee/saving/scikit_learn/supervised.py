"""List the saved attributes of scikit-learn's classifiers and regressors.

The library of support vector machines is written in C and does not check its arrays, so all of them are
checked against each other here. The trees of nearest neighbours are not saved: a fit on the saved rows grows
them again.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from committee.saving.format.attributes import (
    Kind,
    Sizes,
    Wrong,
    agrees,
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
    positive,
    shares,
    sparse,
    text,
    tuple_of,
)
from committee.saving.plain_models.linear_models import REGRESSORS
from committee.saving.plain_models.perceptrons import check_widths
from committee.saving.scikit_learn.listed_estimators import (
    COLUMNS,
    Listed,
    Named,
    listed_estimator,
    set_attributes,
)

MODULE = "sklearn.linear_model."


def with_size(kind: Kind, size: str, n: int) -> Kind:
    """Return the kind of a value that has a kind and sets a size."""

    def check(value: object, sizes: Sizes) -> None:
        kind(value, sizes)
        if not agrees(size, n, sizes):
            raise Wrong(f"is made for {n} {size} instead of {sizes[size]}")

    return check


OUTPUTS = either(
    with_size(floats("features"), "outputs", 1), floats("outputs", "features"), sparse("outputs", "features")
)
REGRESSION = {"coef_": OUTPUTS, "intercept_": either(number(), floats("outputs"), floats())}
CLASSIFICATION = {
    "classes_": labels(),
    "coef_": either(floats("decisions", "features"), sparse("decisions", "features")),
    "intercept_": either(number(), floats("decisions")),
}
# Attributes that describe the fit or the choice of its parameters, and that no method reads.
RECORD_NAMES = (
    "n_iter_", "dual_gap_", "eps_", "mse_path_", "alpha_", "alphas_", "l1_ratio_", "solver_", "best_score_",
    "cv_results_", "rank_", "singular_", "Cs_", "C_", "l1_ratios_", "scores_", "coefs_paths_",
)  # fmt: skip
RECORDS = dict.fromkeys(RECORD_NAMES, anything)


def check_priors(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that intercepts are finite, except for classes of prior probability 0."""
    has_no_prior = fitted["priors_"] == 0
    if len(fitted["intercept_"]) == 1:
        has_no_prior = has_no_prior.any(keepdims=True)
    if (np.isinf(fitted["intercept_"]) & ~has_no_prior).any():
        raise Wrong("intercept_ is infinite for a class of positive prior")


NETWORK = {
    "n_layers_": integer(3),
    "n_outputs_": count("outputs"),
    "coefs_": list_of(floats(None, None)),
    "intercepts_": list_of(floats(None)),
    "out_activation_": one_of("identity", "logistic", "softmax", "exp"),
}
NETWORK_RECORD_NAMES = (
    "n_iter_", "t_", "loss_", "loss_curve_", "best_loss_", "validation_scores_", "best_validation_score_",
)  # fmt: skip
NETWORK_TRAINING = (
    "_random_state", "_optimizer", "_best_coefs", "_best_intercepts", "_no_improvement_count",
)  # fmt: skip


def check_layers(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that the inputs of each layer are the outputs of the previous one."""
    weights, offsets = fitted["coefs_"], fitted["intercepts_"]
    check_widths(fitted["n_features_in_"], weights, offsets)
    if len(weights) != fitted["n_layers_"] - 1:
        raise Wrong("coefs_ and n_layers_ do not fit each other")
    n_last = len(offsets[-1])
    n_classes = sizes.get("classes", 0)
    expected = {n_classes, 1 if n_classes == 2 else n_classes} if n_classes else {n_last}
    if n_last != sizes["outputs"] or n_last not in expected:
        raise Wrong(f"n_outputs_ is {sizes['outputs']} and the last layer has {n_last}")


def network(name: str, learnt: dict[str, Kind]) -> Listed:
    """Return the entry of a multi-layer perceptron."""
    return Listed(
        f"sklearn.neural_network.{name}",
        {"n_features_in_": count("features"), **learnt, **NETWORK},
        dict.fromkeys(NETWORK_RECORD_NAMES, anything),
        not_saved=NETWORK_TRAINING,
        checks=(check_layers,),
    )


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
# Numbers that the C library does not check.
SVM_PARAMETERS = {"degree": integer(0, 100), "coef0": number(), "tol": number(), "cache_size": number()}


def check_vectors(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that the attributes of a support vector machine fit each other."""
    vectors = fitted["support_vectors_"]
    is_sparse = not isinstance(vectors, np.ndarray)
    for name in ("dual_coef_", "_dual_coef_"):
        if is_sparse is isinstance(fitted[name], np.ndarray) or fitted["_sparse"] is not is_sparse:
            raise Wrong(f"{name}, support_vectors_ and _sparse must all be sparse or none of them")
        # The library reads the stored numbers of a sparse matrix as those of a full matrix.
        if is_sparse and fitted[name].nnz != fitted[name].shape[0] * fitted[name].shape[1]:
            raise Wrong(f"{name} does not store all of its numbers")
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
    """Set the attributes, and one that scikit-learn does not have before version 1.9."""
    is_calibrated = getattr(estimator, "probability", False) is True
    set_attributes(estimator, {"_effective_probability": is_calibrated} | fitted)


def support_vector_machine(
    name: str, first: dict[str, Kind], n_rows: str | int, n_curves: str | int
) -> Listed:
    """Return the entry of a support vector machine with a kernel."""
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
    # The training rows, in their own dtype.
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
    """Check that the code of each row is that of a class."""
    classes, codes = fitted["classes_"], fitted["_y"]
    has_several = isinstance(classes, list)
    if fitted["outputs_2d_"] is not has_several or codes.ndim != 1 + has_several or not len(codes):
        raise Wrong("_y does not fit classes_")
    for column, known in zip(codes.T, classes, strict=True) if has_several else [(codes, classes)]:
        if not column.max() < len(known):
            raise Wrong(f"_y holds {column.max()}, and there are {len(known)} classes")


def fit_again(estimator: Any, fitted: Named) -> None:
    """Fit an estimator on its stored rows, and then set the names of the columns."""
    classes, y = fitted.get("classes_"), fitted["_y"]
    if isinstance(classes, list):
        y = np.column_stack([each[column] for each, column in zip(classes, y.T, strict=True)])
    elif classes is not None:
        y = classes[y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The user saw them during the first fit.
        estimator.fit(fitted["_fit_X"], y)
    for name in ("_fit_method", "effective_metric_", "n_features_in_"):
        if name in fitted and getattr(estimator, name) != fitted[name]:
            raise Wrong(f"{name} is {getattr(estimator, name)!r} after a fit instead of {fitted[name]!r}")
    set_attributes(estimator, {name: fitted[name] for name in COLUMNS if name in fitted})


def neighbours(name: str, learnt: dict[str, Kind], **more: Any) -> Listed:
    """Return the entry of an estimator of nearest neighbours."""
    return Listed(
        f"sklearn.neighbors.{name}",
        {**NEIGHBOURS, **learnt},
        parameters=METRIC_PARAMETERS,
        not_saved=("_tree", "n_samples_fit_", "effective_metric_params_"),
        complete=fit_again,
        **more,
    )


MODELS = (
    *(Listed(MODULE + name, REGRESSION, RECORDS) for name in REGRESSORS),
    Listed(MODULE + "LogisticRegression", CLASSIFICATION, RECORDS),
    Listed(MODULE + "LogisticRegressionCV", CLASSIFICATION, RECORDS),
    Listed("sklearn.svm.LinearSVC", CLASSIFICATION, {"n_iter_": anything}),
    Listed("sklearn.svm.LinearSVR", REGRESSION, {"n_iter_": anything}),
    Listed(
        "sklearn.naive_bayes.GaussianNB",
        {
            "classes_": labels(),
            "theta_": floats("classes", "features"),
            # All variances are 0 if all columns are constant.
            "var_": either(positive("classes", "features"), floats("classes", "features", high=0.0, low=0.0)),
            "class_prior_": shares("classes"),
            "class_count_": floats("classes", low=0.0),
            "epsilon_": number(0.0),
        },
    ),
    Listed(
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        {
            "classes_": labels(),
            "coef_": floats("decisions", "features"),
            "intercept_": floats("decisions", low=-np.inf, high=np.inf),
            "priors_": shares("classes"),
            "means_": floats("classes", "features"),
            "_max_components": integer(),
            "_n_features_out": integer(),
        },
        {
            "xbar_": floats("features"),
            "scalings_": floats("features", None),
            "covariance_": floats("features", "features"),
            "explained_variance_ratio_": anything,
        },
        checks=(check_priors,),
    ),
    Listed(
        "sklearn.dummy.DummyClassifier",
        {
            "n_outputs_": integer(1, 1),
            "classes_": labels(),
            "n_classes_": count("classes"),
            "class_prior_": shares("classes"),
            "_strategy": one_of("most_frequent", "prior", "stratified", "uniform", "constant"),
            "sparse_output_": boolean,
        },
    ),
    Listed(
        "sklearn.dummy.DummyRegressor",
        {
            "n_outputs_": count("outputs"),
            "constant_": either(floats(1, "outputs"), integers(1, "outputs", low=-(2**53))),
        },
    ),
    network("MLPRegressor", {}),
    network(
        "MLPClassifier",
        {"classes_": labels(), "_label_binarizer": listed_estimator("sklearn.preprocessing.LabelBinarizer")},
    ),
    support_vector_machine(
        "SVC",
        {
            "classes_": labels(),
            "_n_support": integers("classes", of="int32"),
            "class_weight_": floats("classes", of=DOUBLES),
        },
        "other classes",
        "pairs",
    ),
    support_vector_machine("SVR", {"_n_support": integers(2, low=-(2**31), of="int32")}, 1, 1),
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
