"""Gaussian naive Bayes, discriminant analysis and the dummies of scikit-learn: what each of them keeps."""

from __future__ import annotations

import numpy as np

from committee.saving.attributes import (
    Sizes,
    Wrong,
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
    positive,
    shares,
    told,
)
from committee.saving.scikit_learn.listed import Listed, Named

NEVER = -np.inf


def check_priors(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """An infinite intercept belongs to a class that is impossible."""
    is_impossible = fitted["priors_"] == 0
    if len(fitted["intercept_"]) == 1:
        is_impossible = is_impossible.any(keepdims=True)
    if (np.isinf(fitted["intercept_"]) & ~is_impossible).any():
        raise Wrong("intercept_ is infinite for a class that is possible")


def check_rotations(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Each class has axes, and a length along each."""
    for rotation, scaling in zip(fitted["rotations_"], fitted["scalings_"], strict=True):
        if rotation.shape[1] != len(scaling):
            raise Wrong("rotations_ and scalings_ do not fit each other")


DISCRIMINANT = "sklearn.discriminant_analysis"
BAYES = (
    Listed(
        "sklearn.naive_bayes",
        "GaussianNB",
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
        DISCRIMINANT,
        "LinearDiscriminantAnalysis",
        {
            "classes_": labels(),
            "coef_": floats("decisions", "features"),
            "intercept_": floats("decisions", low=NEVER, high=-NEVER),
            "priors_": shares("classes"),
            "means_": floats("classes", "features"),
            "_max_components": integer(),
            "_n_features_out": integer(),
        },
        {
            "xbar_": floats("features"),
            "scalings_": floats("features", None),
            "covariance_": floats("features", "features"),
            "explained_variance_ratio_": told,
        },
        parameters={"solver": one_of("svd", "lsqr", "eigen")},
        check=check_priors,
    ),
    Listed(
        DISCRIMINANT,
        "QuadraticDiscriminantAnalysis",
        {
            "classes_": labels(),
            "priors_": shares("classes"),
            "means_": floats("classes", "features"),
            "scalings_": list_of(positive(None), "classes"),
            "rotations_": list_of(floats("features", None), "classes"),
        },
        {"covariance_": list_of(floats("features", "features"), "classes")},
        check=check_rotations,
    ),
    Listed(
        "sklearn.dummy",
        "DummyClassifier",
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
        "sklearn.dummy",
        "DummyRegressor",
        {
            "n_outputs_": count("outputs"),
            "constant_": either(floats(1, "outputs"), integers(1, "outputs", low=-(2**53))),
        },
    ),
)
