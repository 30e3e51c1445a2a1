"""Cases of all listed classes of scikit-learn: parameters, tables, targets and the results of all methods."""

import inspect
import warnings

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn import (
    calibration,
    compose,
    discriminant_analysis,
    dummy,
    impute,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
)
from sklearn.base import clone
from threadpoolctl import threadpool_limits

RNG = np.random.default_rng(7)
NUMBERS = RNG.normal(size=(48, 4)) * [1.0, 3.0, 0.2, 10.0] + [0.0, 5.0, -1.0, 20.0]
THREE = np.digitize(NUMBERS[:, 0] + 0.2 * NUMBERS[:, 1], [0.5, 1.5])
TARGET = NUMBERS @ [1.0, -0.5, 3.0, 0.1] + RNG.normal(size=48)
COUNTS = RNG.integers(0, 4, size=(48, 4)).astype(float)
WITH_MISSING = np.where(RNG.random((48, 4)) < 0.2, np.nan, NUMBERS)
CITIES = pd.DataFrame(
    {
        "city": RNG.choice(["Oslo", "Rome", "Lima", "Bonn"], 48, p=[0.5, 0.3, 0.15, 0.05]),
        "size": RNG.choice([1, 2, 3], 48),
        "mood": RNG.choice(np.array(["good", "bad", None], dtype=object), 48),
    }
)
MIXED = CITIES.assign(height=NUMBERS[:, 0], weight=WITH_MISSING[:, 1])
Y = {
    "three classes": THREE,
    "two classes": THREE > 0,
    "words": np.array(["no", "perhaps", "yes"])[THREE],
    "a number": TARGET,
    "a positive number": np.abs(TARGET) + 0.1,
    "two numbers": np.column_stack([TARGET, -2 * TARGET + NUMBERS[:, 1]]),
    "two labels": np.column_stack([THREE > 0, THREE > 1]).astype(int),
    "none": None,
}
X = {
    "numbers": NUMBERS,
    "single precision": NUMBERS.astype(np.float32),
    "integers": COUNTS.astype(np.int64),
    "counts": COUNTS,
    "sparse": scipy.sparse.csr_matrix(COUNTS),
    "missing values": WITH_MISSING,
    "an empty column": np.column_stack([NUMBERS[:, :3], np.full(48, np.nan)]),
    "cities": CITIES,
    "mixed": MIXED,
    "positive": np.abs(NUMBERS) + 0.1,
}
CLASSES, NUMBER = ("three classes", "two classes", "words"), ("a number",)
NUMBERS_TOO = ("a number", "two numbers")


def case(estimator, table="numbers", targets=("none",)):
    return [(estimator, table, target) for target in targets]


def cases(module, names, targets, table="numbers", **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # scikit-learn 1.10 will remove some classes
        made = [getattr(module, name)(**parameters) for name in names]
    return [each for estimator in made for each in case(estimator, table, targets)]


lm, pre = linear_model, preprocessing
LATEST_METHOD = "temperature" if hasattr(calibration, "_TemperatureScaling") else "sigmoid"
steps = [("fill", impute.SimpleImputer()), ("scale", pre.StandardScaler()), ("fit", lm.LogisticRegression())]
by_column = compose.ColumnTransformer(
    [
        ("words", pre.OneHotEncoder(handle_unknown="ignore"), ["city", "mood"]),
        ("numbers", pre.StandardScaler(), ["height", "weight"]),
        ("again", "passthrough", slice("height", "weight")),
        ("not", "drop", ["size"]),
    ],
    sparse_threshold=0,
)
CASES = [
    *cases(lm, ["LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet"], NUMBERS_TOO),
    *cases(lm, ["LassoCV", "ElasticNetCV"], NUMBER),
    *cases(lm, ["LogisticRegression"], CLASSES),
    *case(lm.LogisticRegression(fit_intercept=False, solver="liblinear"), "sparse", ("two classes",)),
    *case(lm.LogisticRegressionCV(Cs=2, cv=2), "single precision", CLASSES),
    *cases(svm, ["SVC"], CLASSES),
    *cases(svm, ["SVC"], CLASSES, "sparse"),
    *cases(svm, ["SVC"], CLASSES, probability=True, random_state=0),
    *cases(svm, ["SVC"], CLASSES, "sparse", probability=True, random_state=0),
    *[
        each
        for kernel in ("linear", "poly", "sigmoid")
        for each in case(svm.SVC(kernel=kernel, decision_function_shape="ovo"), "counts", CLASSES)
    ],
    *cases(svm, ["SVR", "LinearSVR"], NUMBER),
    *cases(svm, ["SVR"], NUMBER, "sparse"),
    *cases(svm, ["LinearSVC"], CLASSES),
    *cases(neighbors, ["KNeighborsClassifier"], (*CLASSES, "two labels")),
    *cases(neighbors, ["KNeighborsRegressor"], NUMBERS_TOO),
    *case(neighbors.KNeighborsClassifier(weights="distance", algorithm="ball_tree", p=1), targets=CLASSES),
    *case(neighbors.KNeighborsClassifier(metric="cosine"), "sparse", CLASSES),
    *case(neighbors.KNeighborsClassifier(metric="hamming", n_neighbors=2), "integers", CLASSES),
    *case(
        neighbors.KNeighborsRegressor(metric="minkowski", p=3, metric_params={"w": np.ones(4)}),
        targets=NUMBER,
    ),
    *cases(
        neural_network, ["MLPClassifier"], (*CLASSES, "two labels"), hidden_layer_sizes=(5, 3), max_iter=8
    ),
    *cases(neural_network, ["MLPRegressor"], NUMBERS_TOO, hidden_layer_sizes=6, max_iter=8),
    *cases(naive_bayes, ["GaussianNB"], CLASSES),
    *case(discriminant_analysis.LinearDiscriminantAnalysis(store_covariance=True), targets=CLASSES),
    *[
        each
        for solver in ("lsqr", "eigen")
        for each in case(discriminant_analysis.LinearDiscriminantAnalysis(solver=solver), targets=CLASSES)
    ],
    *case(dummy.DummyClassifier(), targets=CLASSES),
    *case(dummy.DummyClassifier(strategy="stratified", random_state=0), targets=CLASSES),
    *case(dummy.DummyRegressor(strategy="median"), targets=NUMBERS_TOO),
    *cases(pre, ["StandardScaler", "MinMaxScaler", "RobustScaler"], ("none",), "missing values"),
    *cases(pre, ["StandardScaler", "MinMaxScaler"], ("none",), "numbers"),
    *case(pre.StandardScaler(with_mean=False), "sparse"),
    *case(pre.StandardScaler(with_mean=False, with_std=False)),
    *case(pre.RobustScaler(with_centering=False)),
    *case(pre.FunctionTransformer(np.log1p, inverse_func=np.expm1, validate=True), "positive"),
    *case(impute.SimpleImputer(), "an empty column"),
    *case(impute.SimpleImputer(strategy="most_frequent", add_indicator=True), "missing values"),
    *case(impute.SimpleImputer(strategy="most_frequent", keep_empty_features=True), "cities"),
    *case(impute.SimpleImputer(strategy="constant", fill_value=-1.0), "missing values"),
    *case(impute.MissingIndicator(), "missing values"),
    *case(impute.MissingIndicator(features="all", error_on_new=False), "numbers"),
    *case(pre.OneHotEncoder(), "cities"),
    *case(pre.OneHotEncoder(drop="first", sparse_output=False), "cities"),
    *case(pre.OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist"), "cities"),
    *case(
        pre.OneHotEncoder(max_categories=2, drop="if_binary", sparse_output=False, dtype=np.float32), "cities"
    ),
    *case(pre.OneHotEncoder(categories=[[0.0, 1, 2, 3, 4]] * 4), "counts"),
    *case(pre.OrdinalEncoder(), "cities"),
    *case(pre.OrdinalEncoder(max_categories=3, encoded_missing_value=-1), "cities"),
    *case(pre.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), "counts"),
    *case(pipeline.Pipeline(steps), "missing values", CLASSES),
    *case(pipeline.make_pipeline("passthrough", pre.MinMaxScaler(), lm.Ridge()), targets=NUMBERS_TOO),
    *case(pipeline.make_pipeline(by_column, impute.SimpleImputer(), svm.SVC()), "mixed", CLASSES),
    *case(by_column, "mixed"),
    *case(
        compose.ColumnTransformer(
            [
                ("one", pre.MinMaxScaler(), [0]),
                ("some", pre.RobustScaler(), np.array([False, True, True, False])),
            ],
            remainder="passthrough",
        )
    ),
    *case(
        compose.ColumnTransformer([("one", pre.StandardScaler(), slice(1, 3))], remainder=pre.MinMaxScaler())
    ),
    *case(
        compose.TransformedTargetRegressor(lm.Ridge(), func=np.log, inverse_func=np.exp),
        targets=("a positive number",),
    ),
    *case(compose.TransformedTargetRegressor(lm.Ridge(), transformer=pre.StandardScaler()), targets=NUMBER),
    *case(calibration.CalibratedClassifierCV(naive_bayes.GaussianNB(), cv=3), targets=CLASSES),
    *case(calibration.CalibratedClassifierCV(svm.SVC(), ensemble=False, cv=3), "single precision", CLASSES),
    *case(calibration.CalibratedClassifierCV(svm.LinearSVC(), method="isotonic", cv=2), targets=CLASSES),
    *case(calibration.CalibratedClassifierCV(method=LATEST_METHOD, cv=2), targets=CLASSES),
]


# One case of each class, for tests that do not depend on parameters.
FIRST = list({type(each[0]): each for each in reversed(CASES)}.values())[::-1]


def title(value):
    """Return the part of a case in the name of a test."""
    return value if isinstance(value, str) else type(value).__name__


def fitted(estimator, table, target, *, named=False, weighted=False):
    """Return a fitted clone, with fixed seeds and one thread, and the rows that it was fitted on."""
    rows = X[table]
    if named and isinstance(rows, np.ndarray):
        rows = pd.DataFrame(rows, columns=[f"column {i}" for i in range(rows.shape[1])])
    more = {"sample_weight": np.arange(48) % 3 + 0.5} if weighted else {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        estimator = clone(estimator)
        if estimator.get_params().get("random_state", 0) is None:
            estimator.set_params(random_state=0)
        return estimator.fit(rows, Y[target], **more), rows


def takes_weights(estimator):
    """Return whether `fit` accepts weights of rows."""
    return "sample_weight" in inspect.signature(estimator.fit).parameters


def results(estimator, rows, target):
    """Return the results of all methods of an estimator by name, and some attributes."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in (
            "predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "kneighbors"
        ):  # fmt: skip
            if hasattr(estimator, method) and not (method == "transform" and cannot_transform(estimator)):
                found[method] = plain(getattr(estimator, method)(rows))
        if hasattr(estimator, "score") and Y[target] is not None:
            found["score"] = estimator.score(rows, Y[target])
        if hasattr(estimator, "inverse_transform") and "transform" in found and can_invert(estimator):
            found["inverse_transform"] = plain(estimator.inverse_transform(estimator.transform(rows)))
        if "transform" in found and hasattr(estimator, "get_feature_names_out"):
            found["names"] = list(estimator.get_feature_names_out())
        if "return_std" in inspect.signature(getattr(estimator, "predict", print)).parameters:
            found["deviations"] = plain(estimator.predict(rows, return_std=True))
        for name in ("coef_", "n_support_", "infrequent_categories_", "feature_names_in_"):
            if hasattr(estimator, name):
                found[name] = plain(getattr(estimator, name))
    return found


def cannot_transform(estimator):
    """Return whether `transform` exists but always raises."""
    return getattr(estimator, "solver", None) == "lsqr"


def can_invert(estimator):
    """Return whether `inverse_transform` accepts the result of `transform`."""
    imputes = isinstance(estimator, impute.SimpleImputer)
    return not imputes or estimator.add_indicator


def plain(result):
    """Return a result as arrays of numpy."""
    if isinstance(result, tuple | list):
        return [plain(each) for each in result]
    return result.toarray() if scipy.sparse.issparse(result) else np.asarray(result)


def is_same(one, other):
    """Return whether two results are equal to the last bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype == object:
            return all(map(is_same, one.ravel().tolist(), other.ravel().tolist()))
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return one == other or (one != one and other != other)
