"""Scalers, transformers of single columns and imputers of scikit-learn: what each of them keeps."""

from __future__ import annotations

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
    integers,
    number,
    one_of,
    optional,
    scalar,
    tuple_of,
    values,
)
from committee.saving.scikit_learn.listed import Listed, Named, listed_estimator, set_attributes

PREPROCESSING, IMPUTE = "sklearn.preprocessing", "sklearn.impute"
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


def check_scaler(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """A power transform that standardises has a scaler."""
    if parameters["standardize"] and "_scaler" not in fitted:
        raise Wrong("_scaler is missing")


def no_arguments(value: Any, sizes: Sizes) -> None:
    """None, or a dict of nothing."""
    if value is not None and value != {}:
        raise Wrong("holds arguments, and a function of numpy takes none")


def set_with_dtypes(estimator: Any, fitted: Named) -> None:
    """Set the attributes, and the two dtypes of the rows; scikit-learn before 1.8 has but one of them."""
    set_attributes(estimator, fitted)
    dtypes = [fitted[name] for name in ("_fit_dtype", "_fill_dtype") if name in fitted]
    if not dtypes:
        raise Wrong("_fit_dtype is missing")
    estimator._fit_dtype, estimator._fill_dtype = dtypes[0], dtypes[-1]


INDICATOR = optional(listed_estimator("sklearn.impute.MissingIndicator"))

SCALERS = (
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
    # What TransformedTargetRegressor makes of its functions.
    Listed(
        PREPROCESSING,
        "FunctionTransformer",
        parameters={
            "validate": boolean,
            "accept_sparse": boolean,
            "check_inverse": boolean,
            "feature_names_out": one_of(None, "one-to-one"),
            "kw_args": no_arguments,
            "inv_kw_args": no_arguments,
        },
        functions=("func", "inverse_func"),
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
)
