"""Linear models, naive Bayes, discriminant analysis, dummies and networks of scikit-learn: what they keep."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from committee.saving.attributes import (
    Kind,
    Sizes,
    Wrong,
    agrees,
    anything,
    boolean,
    count,
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
)
from committee.saving.predictors.linear import REGRESSORS
from committee.saving.scikit_learn.listed import Listed, Named, listed_estimator, set_attributes
from committee.saving.scikit_learn.sparse_matrices import sparse

MODULE = "sklearn.linear_model."


def given(kind: Kind, size: str, n: int) -> Kind:
    """Return the kind of what is of a kind, and decides a size."""

    def check(value: object, sizes: Sizes) -> None:
        kind(value, sizes)
        if not agrees(size, n, sizes):
            raise Wrong(f"is made for {n} {size} instead of {sizes[size]}")

    return check


def binarizer(value: object, sizes: Sizes) -> None:
    """Check a fitted LabelBinarizer, which decides the number of classes."""
    listed_estimator("sklearn.preprocessing.LabelBinarizer")(value, sizes)
    labels()(getattr(value, "classes_", None), sizes)


ONE_OUTPUT = given(either(floats("features"), sparse(1, "features"), floats(1, "features")), "outputs", 1)
OUTPUTS = either(
    given(floats("features"), "outputs", 1), floats("outputs", "features"), sparse("outputs", "features")
)
REGRESSION = {"coef_": OUTPUTS, "intercept_": either(number(), floats("outputs"), floats())}
ONE_REGRESSION = {"coef_": ONE_OUTPUT, "intercept_": either(number(), floats(1), floats())}
CLASSIFICATION = {
    "classes_": labels(),
    "coef_": either(floats("decisions", "features"), sparse("decisions", "features")),
    "intercept_": either(number(), floats("decisions")),
}
# For two classes the ridge classifiers keep a vector; several labels of a row have a decision each.
RIDGE_CLASSIFICATION = {
    "_label_binarizer": binarizer,
    "coef_": either(
        given(floats("features"), "classes", 2),
        floats("decisions", "features"),
        floats("classes", "features"),
    ),
    "intercept_": either(number(), floats("decisions"), floats("classes")),
}
# Numbers that only people read: how long the fit took, and how its parameters were chosen.
STORY_NAMES = (
    "n_iter_", "dual_gap_", "eps_", "mse_path_", "alpha_", "alphas_", "l1_ratio_", "solver_", "best_score_",
    "cv_results_", "rank_", "singular_", "Cs_", "C_", "l1_ratios_", "scores_", "coefs_paths_",
)  # fmt: skip
STORY = dict.fromkeys(STORY_NAMES, anything)
# The averages of stochastic gradient descent go on from where they stand.
AVERAGED = optional(either(floats("features"), floats("decisions", "features")))
AVERAGES = {
    "t_": number(),
    **dict.fromkeys(("n_iter_", "_expanded_class_weight"), anything),
    **dict.fromkeys(("_standard_coef", "_average_coef"), AVERAGED),
    **dict.fromkeys(("_standard_intercept", "_average_intercept"), optional(floats(None))),
}
LOSS_FUNCTIONS = ("_loss_function_", "loss_function_")


def set_with_classes(estimator: Any, fitted: Named) -> None:
    """Set the attributes, and the classes, which are a property in scikit-learn before 1.8."""
    set_attributes(estimator, fitted)
    if not hasattr(type(estimator), "classes_"):
        estimator.classes_ = fitted["_label_binarizer"].classes_


def check_priors(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that only the intercept of a class that is impossible is infinite."""
    is_impossible = fitted["priors_"] == 0
    if len(fitted["intercept_"]) == 1:
        is_impossible = is_impossible.any(keepdims=True)
    if (np.isinf(fitted["intercept_"]) & ~is_impossible).any():
        raise Wrong("intercept_ is infinite for a class that is possible")


def check_rotations(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that each class has axes, and a length along each."""
    for rotation, scaling in zip(fitted["rotations_"], fitted["scalings_"], strict=True):
        if rotation.shape[1] != len(scaling):
            raise Wrong("rotations_ and scalings_ do not fit each other")


NETWORK = {
    "n_layers_": integer(3),
    "n_outputs_": count("outputs"),
    "coefs_": list_of(floats(None, None)),
    "intercepts_": list_of(floats(None)),
    "out_activation_": one_of("identity", "logistic", "softmax", "exp"),
}
NETWORK_STORY = (
    "n_iter_", "t_", "loss_", "loss_curve_", "best_loss_", "validation_scores_", "best_validation_score_",
)  # fmt: skip
TRAINING_OF_NETWORKS = (
    "_random_state", "_optimizer", "_best_coefs", "_best_intercepts", "_no_improvement_count",
)  # fmt: skip


def check_layers(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that each layer takes what the one before it gives."""
    weights, offsets = fitted["coefs_"], fitted["intercepts_"]
    widths = [fitted["n_features_in_"], *(len(each) for each in offsets)]
    shapes = list(itertools.pairwise(widths))
    if [each.shape for each in weights] != shapes or len(weights) != fitted["n_layers_"] - 1:
        raise Wrong("coefs_, intercepts_ and n_layers_ do not fit each other")
    n_classes = sizes.get("classes", 0)
    expected = {n_classes, 1 if n_classes == 2 else n_classes} if n_classes else {widths[-1]}
    if widths[-1] != sizes["outputs"] or widths[-1] not in expected:
        raise Wrong(f"n_outputs_ is {sizes['outputs']} and the last layer has {widths[-1]}")


def network(name: str, learnt: dict[str, Kind]) -> Listed:
    """Return the line of a multi-layer perceptron."""
    return Listed(
        f"sklearn.neural_network.{name}",
        {"n_features_in_": count("features"), **learnt, **NETWORK},
        dict.fromkeys(NETWORK_STORY, anything),
        left_out=TRAINING_OF_NETWORKS,
        checks=(check_layers,),
    )


MODELS = (
    *(Listed(MODULE + name, REGRESSION, STORY) for name in REGRESSORS),
    Listed(MODULE + "SGDRegressor", ONE_REGRESSION, AVERAGES, left_out=LOSS_FUNCTIONS),
    Listed(MODULE + "SGDClassifier", CLASSIFICATION, AVERAGES, left_out=LOSS_FUNCTIONS),
    Listed(MODULE + "LogisticRegression", CLASSIFICATION, STORY),
    Listed(MODULE + "LogisticRegressionCV", CLASSIFICATION, STORY),
    *(
        Listed(MODULE + name, RIDGE_CLASSIFICATION, STORY, left_out=("classes_",), complete=set_with_classes)
        for name in ("RidgeClassifier", "RidgeClassifierCV")
    ),
    Listed("sklearn.svm.LinearSVC", CLASSIFICATION, {"n_iter_": anything}),
    Listed("sklearn.svm.LinearSVR", ONE_REGRESSION, {"n_iter_": anything}),
    Listed(
        "sklearn.naive_bayes.GaussianNB",
        {
            "classes_": labels(),
            "theta_": floats("classes", "features"),
            "var_": positive("classes", "features"),
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
        "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",
        {
            "classes_": labels(),
            "priors_": shares("classes"),
            "means_": floats("classes", "features"),
            "scalings_": list_of(positive(None), "classes"),
            "rotations_": list_of(floats("features", None), "classes"),
        },
        {"covariance_": list_of(floats("features", "features"), "classes")},
        checks=(check_rotations,),
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
)
