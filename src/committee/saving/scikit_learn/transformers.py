"""List the saved attributes of scikit-learn's transformers and of its meta-estimators, such as pipelines.

Encoders map categories to codes, and codes to indices of sparse matrices, which scikit-learn does not check
again. So all of these mappings are checked here.
"""

from __future__ import annotations

import importlib
from types import NoneType
from typing import Any

import numpy as np

from committee.saving.format.attributes import (
    Kind,
    Sizes,
    Wrong,
    anything,
    array_of,
    boolean,
    check_all,
    checked_array,
    count,
    described,
    dict_of,
    either,
    floats,
    instance_of,
    integer,
    integers,
    labels,
    list_of,
    number,
    one_of,
    optional,
    scalar,
    shares,
    size_of,
    text,
    tuple_of,
)
from committee.saving.scikit_learn.listed_estimators import (
    Check,
    Listed,
    Named,
    listed_estimator,
    set_attributes,
)

MODULE, IMPUTE = "sklearn.preprocessing.", "sklearn.impute."
# A number for each column. It is NaN for a column without values.
BY_COLUMN = floats("features", missing=True)
DIVISORS = floats("features", low=1e-60, missing=True)
SEEN = {"n_samples_seen_": either(number(0), integers("features"), floats("features", low=0.0))}
DATA = ("data_min_", "data_max_", "data_range_")


def missing_together(*names: str) -> Check:
    """Return a check that some attributes are NaN for the same columns."""

    def check(fitted: Named, parameters: Named, sizes: Sizes) -> None:
        found = [np.isnan(fitted[name]) for name in names if fitted.get(name) is not None]
        if any((each != found[0]).any() for each in found):
            raise Wrong(f"{names[0]} is missing for other columns than {names[-1]}")

    return check


def needed(**attributes: str) -> Check:
    """Return a check that the attribute of each parameter exists if the parameter is true."""

    def check(fitted: Named, parameters: Named, sizes: Sizes) -> None:
        for name, attribute in attributes.items():
            if parameters[name] and fitted.get(attribute) is None:
                raise Wrong(f"{attribute} is missing, and {name} needs it")

    return check


def set_with_dtypes(estimator: Any, fitted: Named) -> None:
    """Set the attributes and the two dtypes of the rows. scikit-learn before 1.8 has only one dtype."""
    dtypes = [fitted[name] for name in ("_fit_dtype", "_fill_dtype") if name in fitted]
    if not dtypes:
        raise Wrong("_fit_dtype is missing")
    set_attributes(estimator, {**fitted, "_fit_dtype": dtypes[0], "_fill_dtype": dtypes[-1]})


def categories(value: object, sizes: Sizes) -> None:
    """Check that the categories of a column differ, and that numbers and dates ascend, with NaN last."""
    array = checked_array(value, (None,), sizes, "biufUOmM")
    if array.dtype.kind in "UO":
        if len({(type(each), repr(each)) for each in array.tolist()}) != len(array):
            raise Wrong("holds the same category twice")
        return
    known = array[~np.isnan(array)] if array.dtype.kind in "fmM" else array
    if (
        len(known) < len(array) - 1
        or not (known[:-1] < known[1:]).all()
        or (known != array[: len(known)]).any()
    ):
        raise Wrong("holds categories that are not in ascending order")


def number_type(value: Any, sizes: Sizes) -> None:
    """Check that numpy accepts a value, such as None, as a dtype of numbers."""
    try:
        is_number = np.dtype(value).kind in "biufO"
    except (TypeError, ValueError):
        is_number = False
    if not is_number:
        raise Wrong(f"is {described(value)} instead of a type of numbers")


def n_groups(fitted: Named) -> list[int]:
    """Return the number of codes of each column, after a check of the groups of infrequent categories."""
    lengths = [len(each) for each in fitted["categories_"]]
    if not fitted["_infrequent_enabled"]:
        return lengths
    for name in INFREQUENT:
        if name not in fitted:
            raise Wrong(f"{name} is missing")
    groups = []
    for i, (rare, codes, n) in enumerate(zip(*(fitted[name] for name in INFREQUENT), lengths, strict=True)):
        n_codes = n if rare is None else n - len(rare) + 1
        are_sound = (rare is None) is (codes is None)
        if rare is not None and are_sound:
            are_sound = 0 < len(rare) == len(np.unique(rare)) and rare.max() < n
            are_sound = are_sound and len(codes) == n and codes.max() < n_codes
        if not are_sound:
            raise Wrong(f"_default_to_infrequent_mappings[{i}] is out of range of the categories")
        groups.append(n_codes)
    return groups


def check_one_hot(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that each column has an output column for each code, except for a dropped one."""
    groups = n_groups(fitted)
    n_categories = [len(each) for each in fitted["categories_"]]
    for name, lengths in (("drop_idx_", n_categories), ("_drop_idx_after_grouping", groups)):
        dropped = [None] * len(groups) if fitted[name] is None else fitted[name]
        for i, position in enumerate(dropped):
            is_integer = isinstance(position, int | np.integer) and not isinstance(position, bool)
            if position is not None and not (is_integer and 0 <= position < lengths[i]):
                raise Wrong(f"{name}[{i}] is out of range of the categories")
    expected = [n - (position is not None) for n, position in zip(groups, dropped, strict=True)]
    if fitted["_n_features_outs"] != expected:
        raise Wrong("_n_features_outs does not fit the categories")


def check_ordinal(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that the code of a missing value is in the range of the categories of its column."""
    n_groups(fitted)
    for column, position in fitted["_missing_indices"].items():
        if not (0 <= column < sizes["features"] and position < len(fitted["categories_"][column])):
            raise Wrong("_missing_indices is out of range of the categories")


CATEGORIES = {"categories_": list_of(categories, "features")}
INFREQUENT = dict.fromkeys(
    ("_infrequent_indices", "_default_to_infrequent_mappings"),
    list_of(optional(integers(None)), "features"),
)
DROPPED = optional(array_of("biufUOmM", "features"))
TARGETS = ("binary", "multiclass", "multilabel-indicator", "continuous", "continuous-multioutput")
DTYPE, NO_ARGUMENTS = instance_of("a dtype", np.dtype), optional(one_of({}))


def estimator_or(*words: str | None) -> Kind:
    """Return the kind of an estimator, or of one of some words."""

    def check(value: object, sizes: Sizes) -> None:
        is_word = (value is None or isinstance(value, str)) and value in words
        if not (is_word or hasattr(value, "get_params")):
            raise Wrong(f"is {described(value)} instead of an estimator")

    return check


def columns(value: object, sizes: Sizes) -> None:
    """Check a selection of columns: one or several, a mask, a slice or a selector."""
    if isinstance(value, str | int | np.integer | slice):
        return
    if isinstance(value, list) and all(isinstance(each, str | int | bool | np.generic) for each in value):
        return
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biuUO":
        return
    if type(value).__name__ != "make_column_selector":
        raise Wrong(f"is {described(value)} instead of columns")


def check_column_transformer(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that all attributes name the same transformers, and that positions are in range."""
    names = [name for name, *_ in parameters["transformers"]]
    made = [name for name, *_ in fitted["transformers_"]]
    if made not in (names, [*names, "remainder"]) or len(fitted["_columns"]) != len(names):
        raise Wrong("transformers_ does not fit transformers")
    inputs = fitted["_transformer_to_input_indices"]
    if not set(made) <= inputs.keys() <= {*names, "remainder"}:
        raise Wrong("_transformer_to_input_indices does not fit transformers")
    n_features = sizes.get("features", 0)
    if any(position >= n_features for positions in inputs.values() for position in positions):
        raise Wrong("_transformer_to_input_indices is out of range of the columns")
    for name, place in fitted["output_indices_"].items():
        bounds = (place.start, place.stop) if isinstance(place, slice) else (None, None)
        if name not in {*names, "remainder"} or not all(isinstance(each, int) for each in bounds):
            raise Wrong("output_indices_ does not fit transformers")


def thresholds(value: Any, sizes: Sizes) -> None:
    """Check the thresholds of an isotonic curve: at least one, in ascending order."""
    floats("thresholds")(value, sizes)
    if not len(value) or not (value[:-1] < value[1:]).all():
        raise Wrong("holds thresholds that are not in ascending order")


# The saved attributes of the curve of each method. `curve_of` computes the others from them.
CURVES: dict[str, dict[str, Kind]] = {
    "sigmoid": {"a_": number(), "b_": number()},
    "isotonic": {"X_thresholds_": thresholds, "y_thresholds_": shares("thresholds")},
    "temperature": {"beta_": number(0.0)},
}


def list_curves(estimator: Any, fitted: Named) -> Named:
    """Replace the calibrated classifiers, whose class is private, by their parts."""
    kept = CURVES[estimator.method]
    parts = [
        {
            "estimator": each.estimator,
            "curves": [{name: getattr(curve, name) for name in kept} for curve in each.calibrators],
        }
        for each in fitted["calibrated_classifiers_"]
    ]
    return {**fitted, "calibrated_classifiers_": parts}


def check_curves(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that each classifier has a subset of the classes, and a curve for each of its decisions."""
    kinds, most_curves = CURVES[parameters["method"]], size_of("decisions", sizes)
    for parts in fitted["calibrated_classifiers_"]:
        if parts.keys() != {"estimator", "curves"}:
            raise Wrong("calibrated_classifiers_ does not hold estimators and curves")
        known, curves = getattr(parts["estimator"], "classes_", None), parts["curves"]
        # With method="temperature", scikit-learn fits classifiers on the codes of the classes.
        classes = range(sizes["classes"]) if parameters["method"] == "temperature" else fitted["classes_"]
        names = {*fitted["classes_"].tolist(), *classes}
        if not isinstance(known, np.ndarray) or not names.issuperset(known.tolist()):
            raise Wrong("calibrated_classifiers_ holds a classifier of other classes")
        if not isinstance(curves, list) or not 1 <= len(curves) <= most_curves:
            raise Wrong("calibrated_classifiers_ does not hold a curve for each class")
        for curve in curves:
            if not isinstance(curve, dict) or curve.keys() != kinds.keys():
                raise Wrong(f"calibrated_classifiers_ holds a curve without {', '.join(kinds)}")
            check_all(kinds, curve, {})


def set_curves(estimator: Any, fitted: Named) -> None:
    """Set the attributes, and make the calibrated classifiers from their parts."""
    calibration = importlib.import_module("sklearn.calibration")
    made = [
        calibration._CalibratedClassifier(
            parts["estimator"],
            [curve_of(estimator.method, curve) for curve in parts["curves"]],
            classes=fitted["classes_"],
            method=estimator.method,
        )
        for parts in fitted["calibrated_classifiers_"]
    ]
    set_attributes(estimator, {**fitted, "calibrated_classifiers_": made})


def curve_of(method: str, learnt: Named) -> Any:
    """Make the fitted curve of a method."""
    if method != "isotonic":
        name = {"sigmoid": "_SigmoidCalibration", "temperature": "_TemperatureScaling"}[method]
        curve = getattr(importlib.import_module("sklearn.calibration"), name)()
        set_attributes(curve, learnt)
        return curve
    curve = importlib.import_module("sklearn.isotonic").IsotonicRegression(out_of_bounds="clip")
    x, y = learnt["X_thresholds_"], learnt["y_thresholds_"]
    set_attributes(curve, {**learnt, "X_min_": x[0], "X_max_": x[-1], "increasing_": True})
    curve._build_f(x, y)
    return curve


PARTS = list_of(tuple_of(text, estimator_or("passthrough", "drop"), columns))

TRANSFORMERS = (
    Listed(
        MODULE + "StandardScaler",
        {"mean_": optional(BY_COLUMN), "scale_": optional(DIVISORS), "var_": optional(BY_COLUMN), **SEEN},
        checks=(needed(with_mean="mean_", with_std="scale_"), missing_together("mean_", "scale_", "var_")),
    ),
    Listed(
        MODULE + "MinMaxScaler",
        {"scale_": DIVISORS, "min_": BY_COLUMN, **dict.fromkeys(DATA, BY_COLUMN), **SEEN},
        parameters={"feature_range": tuple_of(number(), number())},
        checks=(missing_together("scale_", "min_", "data_min_"),),
    ),
    Listed(
        MODULE + "RobustScaler",
        {"center_": optional(BY_COLUMN), "scale_": optional(DIVISORS)},
        checks=(
            needed(with_centering="center_", with_scaling="scale_"),
            missing_together("center_", "scale_"),
        ),
    ),
    # `TransformedTargetRegressor` makes one for its functions.
    Listed(
        MODULE + "FunctionTransformer",
        parameters={"kw_args": NO_ARGUMENTS, "inv_kw_args": NO_ARGUMENTS},
        functions=("func", "inverse_func"),
    ),
    Listed(
        IMPUTE + "SimpleImputer",
        {
            "statistics_": array_of("biufUOmM", "features"),
            "indicator_": optional(listed_estimator(IMPUTE + "MissingIndicator")),
        },
        {"_fit_dtype": DTYPE, "_fill_dtype": DTYPE},
        parameters={"fill_value": scalar},
        complete=set_with_dtypes,
    ),
    Listed(
        IMPUTE + "MissingIndicator",
        {
            "_n_features": count("features"),
            "features_": integers(None, below="features"),
            "_precomputed": boolean,
        },
    ),
    Listed(
        MODULE + "OneHotEncoder",
        {
            **CATEGORIES,
            "_infrequent_enabled": boolean,
            "drop_idx_": DROPPED,
            "_drop_idx_after_grouping": DROPPED,
            "_n_features_outs": list_of(integer(), "features"),
        },
        INFREQUENT,
        parameters={"dtype": number_type},
        checks=(check_one_hot,),
    ),
    Listed(
        MODULE + "OrdinalEncoder",
        {**CATEGORIES, "_infrequent_enabled": boolean, "_missing_indices": dict_of(integer(), integer())},
        INFREQUENT,
        parameters={"dtype": number_type},
        checks=(check_ordinal,),
    ),
    Listed(MODULE + "LabelEncoder", {"classes_": either(labels(), categories)}),
    Listed(
        MODULE + "LabelBinarizer",
        {"classes_": labels(), "y_type_": one_of(*TARGETS), "sparse_input_": boolean},
        parameters=dict.fromkeys(("neg_label", "pos_label"), integer(-(2**31))),
    ),
    Listed(
        "sklearn.pipeline.Pipeline",
        parameters={
            "steps": list_of(tuple_of(text, estimator_or("passthrough", None))),
            # A file must not specify a folder to read.
            "memory": instance_of("None", NoneType),
            "transform_input": optional(list_of(text)),
        },
    ),
    Listed(
        "sklearn.compose.ColumnTransformer",
        {
            "transformers_": PARTS,
            "_columns": list_of(columns),
            "_transformer_to_input_indices": dict_of(text, list_of(integer())),
            "_remainder": tuple_of(text, estimator_or("passthrough", "drop"), columns),
            "output_indices_": dict_of(text, anything),
            "sparse_output_": boolean,
        },
        {"_n_features": integer(), "_transformers_feature_names_out": anything},
        parameters={
            "transformers": PARTS,
            "transformer_weights": optional(dict_of(text, number())),
        },
        checks=(check_column_transformer,),
    ),
    Listed(
        "sklearn.compose.TransformedTargetRegressor",
        {"regressor_": estimator_or(), "transformer_": estimator_or(), "_training_dim": integer(1, 2)},
        functions=("func", "inverse_func"),
    ),
    Listed(
        "sklearn.calibration.CalibratedClassifierCV",
        {"classes_": labels(), "calibrated_classifiers_": list_of(dict_of(text, anything))},
        checks=(check_curves,),
        shorten=list_curves,
        complete=set_curves,
    ),
)
