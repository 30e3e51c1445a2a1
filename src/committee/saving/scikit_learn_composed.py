"""What scikit-learn makes of several estimators: pipelines, unions, transformers of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.saving.attributes import (
    Sizes,
    Wrong,
    boolean,
    described,
    dict_of,
    either,
    integer,
    list_of,
    nothing,
    number,
    optional,
    text,
    told,
    tuple_of,
)
from committee.saving.functions import Ufuncs
from committee.saving.listed import Listed, Named


def part(*words: str | None) -> Any:
    """An estimator, or one of some words in its place."""

    def check(value: Any, sizes: Sizes) -> None:
        if not (hasattr(value, "get_params") or value is None or isinstance(value, str)):
            raise Wrong(f"is {described(value)} instead of an estimator")
        if not hasattr(value, "get_params") and value not in words:
            raise Wrong(f"is {described(value)} instead of an estimator or one of {words}")

    return check


def columns(value: Any, sizes: Sizes) -> None:
    """Which columns: a name, a position, a list or array of them, a mask, a slice, or a selector."""
    if isinstance(value, str | int | np.integer | slice):
        return
    if isinstance(value, list) and all(isinstance(each, str | int | bool | np.generic) for each in value):
        return
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biuUO":
        return
    if type(value).__name__ != "make_column_selector":
        raise Wrong(f"is {described(value)} instead of columns")


def check_column_transformer(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """All lists have the same names, and positions are those of columns."""
    names = [name for name, *_ in parameters["transformers"]]
    made = [name for name, *_ in fitted["transformers_"]]
    if made not in (names, [*names, "remainder"]) or len(fitted["_columns"]) != len(names):
        raise Wrong("transformers_ does not fit transformers")
    inputs = fitted["_transformer_to_input_indices"]
    if not set(made) <= inputs.keys() <= {*names, "remainder"}:
        raise Wrong("_transformer_to_input_indices does not fit transformers")
    n_features = sizes.get("features", 0)
    if any(position >= n_features for positions in inputs.values() for position in positions):
        raise Wrong("_transformer_to_input_indices leads out of the columns")
    for name, place in fitted["output_indices_"].items():
        bounds = (place.start, place.stop) if isinstance(place, slice) else (None, None)
        if name not in {*names, "remainder"} or not all(isinstance(each, int) for each in bounds):
            raise Wrong("output_indices_ does not fit transformers")


TRANSFORMERS = list_of(tuple_of(text, part("passthrough", "drop"), columns))
COMPOSED = (
    Listed(
        "sklearn.pipeline",
        "Pipeline",
        parameters={
            "steps": list_of(tuple_of(text, part("passthrough", None))),
            # Whoever writes a file must not say which folder of ours is read.
            "memory": nothing,
            "transform_input": optional(list_of(text)),
        },
    ),
    Listed(
        "sklearn.pipeline",
        "FeatureUnion",
        parameters={
            "transformer_list": list_of(tuple_of(text, part("passthrough", "drop"))),
            "transformer_weights": optional(dict_of(text, number())),
            "verbose_feature_names_out": boolean,
        },
    ),
    Listed(
        "sklearn.compose",
        "ColumnTransformer",
        {
            "transformers_": TRANSFORMERS,
            "_columns": list_of(columns),
            "_transformer_to_input_indices": dict_of(text, list_of(integer())),
            "_remainder": tuple_of(text, part("passthrough", "drop"), columns),
            "output_indices_": dict_of(text, told),
            "sparse_output_": boolean,
        },
        {"_n_features": integer(), "_transformers_feature_names_out": told},
        parameters={
            "transformers": TRANSFORMERS,
            "remainder": part("passthrough", "drop"),
            "sparse_threshold": number(0.0, 1.0),
            "transformer_weights": optional(dict_of(text, number())),
            "verbose_feature_names_out": either(boolean, text),
        },
        check=check_column_transformer,
    ),
    Listed(
        "sklearn.compose",
        "TransformedTargetRegressor",
        {"regressor_": part(), "transformer_": part(), "_training_dim": integer(1, 2)},
        parameters={"regressor": part(None), "transformer": part(None)},
        functions={"func": Ufuncs(), "inverse_func": Ufuncs()},
    ),
)
