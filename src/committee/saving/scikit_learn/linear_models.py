"""The linear models of scikit-learn: what each of them keeps."""

from __future__ import annotations

from typing import Any

from committee.saving.attributes import (
    Sizes,
    either,
    floats,
    given,
    labels,
    number,
    one_of,
    optional,
    told,
)
from committee.saving.scikit_learn.listed import Listed, Named, listed_estimator, set_attributes
from committee.saving.scikit_learn.sparse_matrices import sparse


def binarizer(value: Any, sizes: Sizes) -> None:
    """A fitted LabelBinarizer, which decides the number of classes."""
    listed_estimator("sklearn.preprocessing.LabelBinarizer")(value, sizes)
    labels()(getattr(value, "classes_", None), sizes)


ONE_OUTPUT = either(
    given(floats("features"), outputs=1),
    given(sparse(1, "features"), outputs=1),
    given(floats(1, "features"), outputs=1),
)
OUTPUTS = either(
    given(floats("features"), outputs=1),
    floats("outputs", "features"),
    sparse("outputs", "features"),
)
INTERCEPT = either(number(), floats("outputs"), floats())
REGRESSION = {"coef_": OUTPUTS, "intercept_": INTERCEPT}
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
        given(floats("features"), classes=2), floats("decisions", "features"), floats("classes", "features")
    ),
    "intercept_": either(number(), floats("decisions"), floats("classes")),
}
# How long the fit took, by what it was chosen: numbers that only people read.
STORY_NAMES = (
    "n_iter_", "dual_gap_", "eps_", "mse_path_", "alpha_", "alphas_", "l1_ratio_", "solver_", "best_score_",
    "cv_results_", "rank_", "singular_",
)  # fmt: skip
STORY = dict.fromkeys(STORY_NAMES, told)
# The averages of stochastic gradient descent go on from where they stand.
AVERAGED = optional(either(floats("features"), floats("decisions", "features")))
AVERAGES = {
    "t_": number(),
    "n_iter_": told,
    **dict.fromkeys(("_standard_coef", "_average_coef"), AVERAGED),
    **dict.fromkeys(("_standard_intercept", "_average_intercept"), optional(floats(None))),
    "_expanded_class_weight": told,
}
REGRESSORS = ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV")
LOSSES = (
    "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "squared_error", "huber",
    "epsilon_insensitive", "squared_epsilon_insensitive",
)  # fmt: skip


def descent(name: str, attributes: Any) -> Listed:
    """A model that stochastic gradient descent has made."""
    return Listed(
        "sklearn.linear_model",
        name,
        attributes,
        AVERAGES,
        left_out=("_loss_function_", "loss_function_"),
        parameters={"loss": one_of(*LOSSES)} if name == "SGDClassifier" else {},
    )


def set_with_classes(estimator: Any, fitted: Named) -> None:
    """Set the attributes, and the classes, which are a property in scikit-learn before 1.8."""
    set_attributes(estimator, fitted)
    if not hasattr(type(estimator), "classes_"):
        estimator.classes_ = fitted["_label_binarizer"].classes_


LINEAR = (
    *(Listed("sklearn.linear_model", name, REGRESSION, STORY) for name in REGRESSORS),
    descent("SGDRegressor", ONE_REGRESSION),
    descent("SGDClassifier", CLASSIFICATION),
    Listed("sklearn.linear_model", "LogisticRegression", CLASSIFICATION, {"n_iter_": told}),
    Listed(
        "sklearn.linear_model",
        "LogisticRegressionCV",
        CLASSIFICATION,
        dict.fromkeys(("n_iter_", "Cs_", "C_", "l1_ratio_", "l1_ratios_", "scores_", "coefs_paths_"), told),
    ),
    *(
        Listed(
            "sklearn.linear_model",
            name,
            RIDGE_CLASSIFICATION,
            STORY,
            left_out=("classes_",),
            complete=set_with_classes,
        )
        for name in ("RidgeClassifier", "RidgeClassifierCV")
    ),
    Listed("sklearn.svm", "LinearSVC", CLASSIFICATION, {"n_iter_": told}),
    Listed("sklearn.svm", "LinearSVR", ONE_REGRESSION, {"n_iter_": told}),
)
