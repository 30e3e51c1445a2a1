"""The encoders of scikit-learn: what each of them keeps.

Categories become positions, and positions become indices of sparse matrices that nobody checks again, so the
tables that lead from one to the other are checked completely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.saving.attributes import (
    Sizes,
    Wrong,
    boolean,
    categories,
    dict_of,
    either,
    floats,
    integer,
    integers,
    labels,
    list_of,
    number,
    number_type,
    one_of,
    optional,
    scalar,
    values,
)
from committee.saving.scikit_learn.listed import Listed, Named

PREPROCESSING = "sklearn.preprocessing"
CATEGORIES = {"categories_": list_of(categories, "features")}
INFREQUENT = {
    "_infrequent_indices": list_of(optional(integers(None)), "features"),
    "_default_to_infrequent_mappings": list_of(optional(integers(None)), "features"),
}


def n_groups(fitted: Named) -> list[int]:
    """How many codes each column has, its infrequent categories being one. Their tables are checked."""
    lengths = [len(each) for each in fitted["categories_"]]
    if not fitted["_infrequent_enabled"]:
        return lengths
    for name in ("_infrequent_indices", "_default_to_infrequent_mappings"):
        if name not in fitted:
            raise Wrong(f"{name} is missing")
    tables = zip(fitted["_infrequent_indices"], fitted["_default_to_infrequent_mappings"], strict=True)
    groups = []
    for i, ((rare, codes), n) in enumerate(zip(tables, lengths, strict=True)):
        if (rare is None) is not (codes is None):
            raise Wrong(f"_infrequent_indices[{i}] and _default_to_infrequent_mappings[{i}] disagree")
        n_codes = n if rare is None else n - len(rare) + 1
        if rare is not None and not (
            0 < len(rare) == len(np.unique(rare))
            and rare.max() < n
            and len(codes) == n
            and codes.max() < n_codes
        ):
            raise Wrong(f"_default_to_infrequent_mappings[{i}] leads out of the categories")
        groups.append(n_codes)
    return groups


def check_one_hot(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Each column has as many columns as it has codes, less the one that is dropped."""
    groups = n_groups(fitted)
    for name, lengths in (
        ("_drop_idx_after_grouping", groups),
        ("drop_idx_", [len(each) for each in fitted["categories_"]]),
    ):
        dropped = fitted[name]
        for i, position in enumerate([] if dropped is None else dropped):
            if position is not None and not (is_integer(position) and 0 <= position < lengths[i]):
                raise Wrong(f"{name}[{i}] leads out of the categories")
    dropped = fitted["_drop_idx_after_grouping"]
    n_dropped = [0 if dropped is None or dropped[i] is None else 1 for i in range(len(groups))]
    expected = [n - minus for n, minus in zip(groups, n_dropped, strict=True)]
    if fitted["_n_features_outs"] != expected:
        raise Wrong("_n_features_outs does not fit the categories")


def check_ordinal(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """A missing value has a position among the categories of its column."""
    n_groups(fitted)
    for column, position in fitted["_missing_indices"].items():
        if not (0 <= column < sizes["features"] and position < len(fitted["categories_"][column])):
            raise Wrong("_missing_indices leads out of the categories")


def check_targets(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Each category has a mean of the target, for each class if there are more than two."""
    means = fitted["target_mean_"]
    n_means = 1 if not isinstance(means, np.ndarray) or means.ndim == 0 else len(means)
    lengths = [len(each) for each in fitted["categories_"] for _ in range(n_means)]
    if [len(each) for each in fitted["encodings_"]] != lengths:
        raise Wrong("encodings_ does not fit categories_")
    if (fitted["target_type_"] == "multiclass") is not (n_means > 1):
        raise Wrong("target_mean_ does not fit target_type_")
    classes = fitted.get("classes_")
    if n_means > 1 and (classes is None or len(classes) != n_means):
        raise Wrong("target_mean_ does not fit classes_")


def is_integer(value: Any) -> bool:
    """Whether a value is an integer of Python or numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


UNKNOWN = {"handle_unknown": one_of("error", "ignore", "infrequent_if_exist", "warn", "use_encoded_value")}
ENCODERS = (
    Listed(
        PREPROCESSING,
        "OneHotEncoder",
        {
            **CATEGORIES,
            "_infrequent_enabled": boolean,
            "drop_idx_": optional(values("features")),
            "_drop_idx_after_grouping": optional(values("features")),
            "_n_features_outs": list_of(integer(), "features"),
        },
        INFREQUENT,
        parameters={
            **UNKNOWN,
            "sparse_output": boolean,
            "feature_name_combiner": one_of("concat"),
            "dtype": number_type,
        },
        check=check_one_hot,
    ),
    Listed(
        PREPROCESSING,
        "OrdinalEncoder",
        {**CATEGORIES, "_infrequent_enabled": boolean, "_missing_indices": dict_of(integer(), integer())},
        INFREQUENT,
        parameters={
            **UNKNOWN,
            "dtype": number_type,
            "unknown_value": scalar,
            "encoded_missing_value": scalar,
        },
        check=check_ordinal,
    ),
    Listed(
        PREPROCESSING,
        "TargetEncoder",
        {
            **CATEGORIES,
            "_infrequent_enabled": one_of(False),
            "target_type_": one_of("binary", "multiclass", "continuous"),
            "target_mean_": either(number(), floats(), floats(None)),
            "encodings_": list_of(floats(None)),
        },
        {"classes_": optional(labels())},
        check=check_targets,
    ),
    Listed(PREPROCESSING, "LabelEncoder", {"classes_": either(labels(), categories)}),
    Listed(
        PREPROCESSING,
        "LabelBinarizer",
        {
            "classes_": labels(),
            "y_type_": one_of(
                "binary", "multiclass", "multilabel-indicator", "continuous", "continuous-multioutput"
            ),
            "sparse_input_": boolean,
        },
        parameters={"neg_label": integer(-(2**31)), "pos_label": integer(-(2**31)), "sparse_output": boolean},
    ),
)
