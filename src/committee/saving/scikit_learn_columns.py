"""Scalers, imputers, selections and components of scikit-learn: what each of them keeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from committee.saving.attributes import (
    Sizes,
    Wrong,
    boolean,
    count,
    dtype,
    either,
    floats,
    integer,
    integers,
    number,
    one_of,
    optional,
    scalar,
    told,
    tuple_of,
    values,
)
from committee.saving.functions import Functions, Ufuncs
from committee.saving.listed import COLUMNS, Listed, Named, listed_estimator, set_attributes
from committee.saving.scikit_learn_machines import fit_rows

PREPROCESSING, IMPUTE, SELECTION = "sklearn.preprocessing", "sklearn.impute", "sklearn.feature_selection"
# More columns than this would take more memory than a file may ask for.
MOST_COLUMNS = 10_000_000
# A number for each column; a column without values has none.
BY_COLUMN = floats("features", missing=True)
DIVISORS = floats("features", low=1e-60, missing=True)
SEEN = {"n_samples_seen_": either(number(0), integers("features"), floats("features", low=0.0))}


def missing_together(*names: str) -> Any:
    """A check that a column that one attribute has no number for is missing in all of them."""

    def check(fitted: Named, parameters: Named, sizes: Sizes) -> None:
        found = [np.isnan(fitted[name]) for name in names if fitted.get(name) is not None]
        if any((each != found[0]).any() for each in found):
            raise Wrong(f"{names[0]} is missing for other columns than {names[-1]}")

    return check


def needed(**attributes: str) -> Any:
    """A check that what a parameter switches on was learnt: the attribute by the name of the parameter."""

    def check(fitted: Named, parameters: Named, sizes: Sizes) -> None:
        for name, attribute in attributes.items():
            if parameters[name] and fitted[attribute] is None:
                raise Wrong(f"{attribute} is None, and {name} needs it")

    return check


def both(*checks: Any) -> Any:
    """Some checks, one after the other."""

    def check(fitted: Named, parameters: Named, sizes: Sizes) -> None:
        for each in checks:
            each(fitted, parameters, sizes)

    return check


def check_products(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """The number of products of columns is bounded; it follows from the degree."""
    degree = parameters["degree"]
    most = degree if isinstance(degree, int) else degree[1]
    if max(sizes["features"], math.comb(sizes["features"] + most, most)) > MOST_COLUMNS:
        raise Wrong(f"degree makes more than {MOST_COLUMNS} columns")


def check_scaler(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """A power transform that standardises has a scaler."""
    if parameters["standardize"] and "_scaler" not in fitted:
        raise Wrong("_scaler is missing")


def no_arguments(value: Any, sizes: Sizes) -> None:
    """None, or a dict of nothing."""
    if value is not None and value != {}:
        raise Wrong("holds arguments, and a function of numpy takes none")


def fit_zeros(estimator: Any, fitted: Named) -> None:
    """Fit what learns nothing but the number of columns."""
    estimator.fit(np.zeros((1, fitted["n_features_in_"])))
    set_attributes(estimator, {name: fitted[name] for name in COLUMNS if name in fitted})


def set_with_dtypes(estimator: Any, fitted: Named) -> None:
    """Set the attributes, and the two dtypes of the rows; scikit-learn before 1.8 has but one of them."""
    set_attributes(estimator, fitted)
    dtypes = [fitted[name] for name in ("_fit_dtype", "_fill_dtype") if name in fitted]
    if not dtypes:
        raise Wrong("_fit_dtype is missing")
    estimator._fit_dtype, estimator._fill_dtype = dtypes[0], dtypes[-1]


def stateless(name: str, **more: Any) -> Listed:
    """A transformer that learns nothing but the names of the columns."""
    return Listed(PREPROCESSING, name, **more)


def selection(name: str) -> Listed:
    """A choice of columns by a score of each."""
    any_number = floats("features", low=-np.inf, high=np.inf, missing=True)
    by_score = name in ("SelectKBest", "SelectPercentile")
    return Listed(
        SELECTION,
        name,
        {"scores_": any_number, "pvalues_": optional(any_number) if by_score else any_number},
        parameters={
            "k": either(one_of("all"), integer()),
            "percentile": number(0.0, 100.0),
            "alpha": number(0.0, 1.0),
            "mode": one_of("percentile", "k_best", "fpr", "fdr", "fwe"),
            "param": either(one_of("all"), number()),
        },
        functions={
            "score_func": Functions(
                SELECTION,
                (
                    "chi2",
                    "f_classif",
                    "f_oneway",
                    "f_regression",
                    "mutual_info_classif",
                    "mutual_info_regression",
                    "r_regression",
                ),
            )
        },
    )


COMPONENTS = {
    "components_": floats("components", "features"),
    "explained_variance_": floats("components", low=0.0),
    "explained_variance_ratio_": floats("components", missing=True),
    "singular_values_": floats("components"),
}
INDICATOR = optional(listed_estimator("sklearn.impute.MissingIndicator"))

COLUMN_WISE = (
    Listed(
        PREPROCESSING,
        "StandardScaler",
        {"mean_": optional(BY_COLUMN), "scale_": optional(DIVISORS), "var_": optional(BY_COLUMN), **SEEN},
        parameters={"with_mean": boolean, "with_std": boolean},
        check=both(needed(with_mean="mean_", with_std="scale_"), missing_together("mean_", "scale_", "var_")),
    ),
    Listed(
        PREPROCESSING,
        "MinMaxScaler",
        {
            "scale_": DIVISORS,
            "min_": BY_COLUMN,
            "data_min_": BY_COLUMN,
            "data_max_": BY_COLUMN,
            "data_range_": BY_COLUMN,
            **SEEN,
        },
        parameters={"feature_range": tuple_of(number(), number()), "clip": boolean},
        check=missing_together("scale_", "min_", "data_min_"),
    ),
    Listed(
        PREPROCESSING,
        "MaxAbsScaler",
        {"scale_": DIVISORS, "max_abs_": BY_COLUMN, **SEEN},
        parameters={"clip": boolean},
        check=missing_together("scale_", "max_abs_"),
    ),
    Listed(
        PREPROCESSING,
        "RobustScaler",
        {"center_": optional(BY_COLUMN), "scale_": optional(DIVISORS)},
        parameters={"with_centering": boolean, "with_scaling": boolean},
        check=both(
            needed(with_centering="center_", with_scaling="scale_"), missing_together("center_", "scale_")
        ),
    ),
    stateless("Normalizer", parameters={"norm": one_of("l1", "l2", "max")}),
    stateless("Binarizer", parameters={"threshold": number()}),
    stateless(
        "FunctionTransformer",
        parameters={
            "validate": boolean,
            "accept_sparse": boolean,
            "check_inverse": boolean,
            "feature_names_out": one_of(None, "one-to-one"),
            "kw_args": no_arguments,
            "inv_kw_args": no_arguments,
        },
        functions={"func": Ufuncs(), "inverse_func": Ufuncs()},
    ),
    stateless(
        "PolynomialFeatures",
        attributes={"n_features_in_": count("features")},
        parameters={
            "degree": either(integer(0, 64), tuple_of(integer(0, 64), integer(0, 64))),
            "interaction_only": boolean,
            "include_bias": boolean,
            "order": one_of("C", "F"),
        },
        left_out=("_min_degree", "_max_degree", "_n_out_full", "n_output_features_"),
        check=check_products,
        complete=fit_zeros,
    ),
    Listed(
        PREPROCESSING,
        "PowerTransformer",
        {"lambdas_": floats("features", low=-1e6, high=1e6, missing=True)},
        {"_scaler": listed_estimator("sklearn.preprocessing.StandardScaler")},
        parameters={"method": one_of("yeo-johnson", "box-cox"), "standardize": boolean},
        check=check_scaler,
    ),
    Listed(
        PREPROCESSING,
        "QuantileTransformer",
        {
            "n_quantiles_": count("quantiles"),
            "references_": floats("quantiles", low=0.0, high=1.0),
            "quantiles_": floats("quantiles", "features", missing=True),
        },
        parameters={"output_distribution": one_of("uniform", "normal"), "ignore_implicit_zeros": boolean},
    ),
    Listed(
        IMPUTE,
        "SimpleImputer",
        {"statistics_": values("features"), "indicator_": INDICATOR},
        {"_fit_dtype": dtype, "_fill_dtype": dtype},
        parameters={
            "missing_values": scalar,
            "fill_value": scalar,
            "strategy": one_of("mean", "median", "most_frequent", "constant"),
            "keep_empty_features": boolean,
            "add_indicator": boolean,
        },
        complete=set_with_dtypes,
    ),
    Listed(
        IMPUTE,
        "KNNImputer",
        {"_fit_X": floats("rows", "features", missing=True)},
        left_out=("_mask_fit_X", "_valid_mask", "indicator_"),
        complete=fit_rows,
    ),
    Listed(
        IMPUTE,
        "MissingIndicator",
        {
            "_n_features": count("features"),
            "features_": integers(None, below="features"),
            "_precomputed": boolean,
        },
        parameters={
            "missing_values": scalar,
            "features": one_of("missing-only", "all"),
            "sparse": one_of(True, False, "auto"),
            "error_on_new": boolean,
        },
    ),
    Listed(
        "sklearn.decomposition",
        "PCA",
        {
            **COMPONENTS,
            "mean_": floats("features"),
            "noise_variance_": number(),
            "n_components_": count("components"),
            "n_samples_": integer(),
        },
        {"_fit_svd_solver": told},
        parameters={"whiten": boolean},
    ),
    Listed("sklearn.decomposition", "TruncatedSVD", COMPONENTS),
    *map(selection, ("SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe")),
    Listed(SELECTION, "VarianceThreshold", {"variances_": BY_COLUMN}, parameters={"threshold": number()}),
)
