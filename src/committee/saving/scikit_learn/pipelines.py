"""What scikit-learn makes of other estimators: pipelines, transformers of columns, calibrated classifiers."""

from __future__ import annotations

import importlib
from types import NoneType
from typing import Any

import numpy as np

from committee.saving.attributes import (
    Kind,
    Sizes,
    Wrong,
    anything,
    boolean,
    check_all,
    described,
    dict_of,
    floats,
    instance_of,
    integer,
    labels,
    list_of,
    number,
    optional,
    shares,
    size_of,
    text,
    tuple_of,
)
from committee.saving.scikit_learn.listed import Listed, Named, set_attributes


def part(*words: str | None) -> Kind:
    """Return the kind of an estimator, or of one of some words in its place."""

    def check(value: object, sizes: Sizes) -> None:
        is_word = (value is None or isinstance(value, str)) and value in words
        if not (is_word or hasattr(value, "get_params")):
            raise Wrong(f"is {described(value)} instead of an estimator")

    return check


def columns(value: object, sizes: Sizes) -> None:
    """Check what says which columns: one or several, a mask, a slice or a selector."""
    if isinstance(value, str | int | np.integer | slice):
        return
    if isinstance(value, list) and all(isinstance(each, str | int | bool | np.generic) for each in value):
        return
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biuUO":
        return
    if type(value).__name__ != "make_column_selector":
        raise Wrong(f"is {described(value)} instead of columns")


def check_column_transformer(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """Check that all lists have the same names, and that positions are those of columns."""
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


# What the curve of each method keeps. scikit-learn adds what follows from it.
CURVES: dict[str, dict[str, Kind]] = {
    "sigmoid": {"a_": number(), "b_": number()},
    "isotonic": {"X_thresholds_": floats("thresholds"), "y_thresholds_": shares("thresholds")},
    "temperature": {"beta_": number(0.0)},
}


def list_curves(estimator: Any, fitted: Named) -> Named:
    """Replace the calibrated classifiers, which are objects of a private class, by their parts."""
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
    """Check that each classifier knows classes of the whole, and has a curve for each of its decisions."""
    kinds, n_most = CURVES[parameters["method"]], size_of("decisions", sizes)
    for parts in fitted["calibrated_classifiers_"]:
        if parts.keys() != {"estimator", "curves"}:
            raise Wrong("calibrated_classifiers_ does not hold estimators and curves")
        known, curves = getattr(parts["estimator"], "classes_", None), parts["curves"]
        # Under a temperature, scikit-learn fits classifiers on the numbers of the classes.
        classes = range(sizes["classes"]) if parameters["method"] == "temperature" else fitted["classes_"]
        names = {*fitted["classes_"].tolist(), *classes}
        if not isinstance(known, np.ndarray) or not names.issuperset(known.tolist()):
            raise Wrong("calibrated_classifiers_ holds a classifier of other classes")
        if not isinstance(curves, list) or not 1 <= len(curves) <= n_most:
            raise Wrong("calibrated_classifiers_ does not hold a curve for each class")
        for curve in curves:
            if not isinstance(curve, dict) or curve.keys() != kinds.keys():
                raise Wrong(f"calibrated_classifiers_ holds a curve without {', '.join(kinds)}")
            check_all(kinds, curve, {})
            x = curve.get("X_thresholds_", np.zeros(1))
            if not len(x) or not (x[:-1] < x[1:]).all():
                raise Wrong("calibrated_classifiers_ holds thresholds that are not in ascending order")


def set_curves(estimator: Any, fitted: Named) -> None:
    """Set the attributes, and make the calibrated classifiers of their parts."""
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


TRANSFORMERS = list_of(tuple_of(text, part("passthrough", "drop"), columns))
COMPOSED = (
    Listed(
        "sklearn.pipeline.Pipeline",
        parameters={
            "steps": list_of(tuple_of(text, part("passthrough", None))),
            # Whoever writes a file must not say which folder of ours is read.
            "memory": instance_of("None", NoneType),
            "transform_input": optional(list_of(text)),
        },
    ),
    Listed(
        "sklearn.compose.ColumnTransformer",
        {
            "transformers_": TRANSFORMERS,
            "_columns": list_of(columns),
            "_transformer_to_input_indices": dict_of(text, list_of(integer())),
            "_remainder": tuple_of(text, part("passthrough", "drop"), columns),
            "output_indices_": dict_of(text, anything),
            "sparse_output_": boolean,
        },
        {"_n_features": integer(), "_transformers_feature_names_out": anything},
        parameters={
            "transformers": TRANSFORMERS,
            "transformer_weights": optional(dict_of(text, number())),
        },
        checks=(check_column_transformer,),
    ),
    Listed(
        "sklearn.compose.TransformedTargetRegressor",
        {"regressor_": part(), "transformer_": part(), "_training_dim": integer(1, 2)},
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
