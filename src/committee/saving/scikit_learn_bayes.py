"""Naive Bayes, discriminant analysis and the dummies of scikit-learn: what each of them keeps."""

from __future__ import annotations

from typing import Any

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
    optional,
    positive,
    shares,
    told,
)
from committee.saving.listed import Listed, Named

NEVER = -np.inf
# The logarithm of a probability; that of a count of zero without smoothing is infinite.
LOGARITHMS = floats("classes", low=NEVER)
SMOOTHING = either(number(0.0), floats("features", low=0.0), list_of(number(0.0), "features"))
COUNTS = {
    "classes_": labels(),
    "class_count_": floats("classes", low=0.0),
    "class_log_prior_": LOGARITHMS,
    "feature_count_": floats("classes", "features", low=0.0),
    "feature_log_prob_": floats("classes", "features", low=NEVER),
}


def check_counts(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """An infinite logarithm belongs to a count of zero, that of a column to one without smoothing."""
    pairs = [(fitted["class_log_prior_"], fitted["class_count_"])]
    if "feature_count_" in fitted:
        pairs.append((fitted["feature_log_prob_"], fitted["feature_count_"]))
    else:
        pairs += zip(fitted["feature_log_prob_"], fitted["category_count_"], strict=True)
    for logarithms, counts in pairs:
        if logarithms.shape != counts.shape or (np.isinf(logarithms) & (counts > 0)).any():
            raise Wrong("the logarithms do not fit the counts")
    is_smooth = np.min(parameters["alpha"]) > 0
    if is_smooth and any(np.isinf(logarithms).any() for logarithms, _ in pairs[1:]):
        raise Wrong("a logarithm is infinite in spite of the smoothing")


def check_shares(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """A column has a share below one of a class, unless all of it has it: the rest has a logarithm too."""
    check_counts(fitted, parameters, sizes)
    is_all = fitted["feature_count_"] >= fitted["class_count_"][:, np.newaxis]
    with np.errstate(over="ignore"):
        shares = np.exp(fitted["feature_log_prob_"])
    if (shares > 1).any() or ((shares == 1) & ~is_all).any():
        raise Wrong("feature_log_prob_ holds what is no logarithm of a share")


def check_priors(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """An infinite intercept belongs to a class that is impossible."""
    is_impossible = fitted["priors_"] == 0
    if len(fitted["intercept_"]) == 1:
        is_impossible = is_impossible.any(keepdims=True)
    if (np.isinf(fitted["intercept_"]) & ~is_impossible).any():
        raise Wrong("intercept_ is infinite for a class that is possible")


def check_categories(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Each column has as many categories as it says."""
    check_counts(fitted, parameters, sizes)
    widths = [each.shape[1] for each in fitted["feature_log_prob_"]]
    if widths != fitted["n_categories_"].tolist():
        raise Wrong("feature_log_prob_ does not fit n_categories_")


def check_rotations(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Each class has axes, and a length along each."""
    for rotation, scaling in zip(fitted["rotations_"], fitted["scalings_"], strict=True):
        if rotation.shape[1] != len(scaling):
            raise Wrong("rotations_ and scalings_ do not fit each other")


def discrete(name: str, **more: Any) -> Listed:
    """Naive Bayes on counts."""
    parameters = {"alpha": SMOOTHING, **more.pop("parameters", {})}
    check = more.pop("check", check_counts)
    return Listed("sklearn.naive_bayes", name, COUNTS, parameters=parameters, check=check, **more)


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
    discrete("MultinomialNB"),
    discrete("BernoulliNB", parameters={"binarize": optional(number())}, check=check_shares),
    discrete("ComplementNB", optional={"feature_all_": floats("features", low=0.0)}),
    Listed(
        "sklearn.naive_bayes",
        "CategoricalNB",
        {
            "classes_": labels(),
            "class_count_": floats("classes", low=0.0),
            "class_log_prior_": LOGARITHMS,
            "category_count_": list_of(floats("classes", None, low=0.0), "features"),
            "feature_log_prob_": list_of(floats("classes", None, low=NEVER), "features"),
            "n_categories_": integers("features"),
        },
        parameters={"alpha": SMOOTHING},
        check=check_categories,
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
