"""Hostile files never crash, hang or give invalid predictions. Each is refused with one line, or valid."""

import random

import hostile_files
import numpy as np
import pytest
from every_estimator import make
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import committee
from committee.saving import DamagedFile

X = np.random.default_rng(0).normal(size=(30, 3))
y = (X[:, 0] > 0).astype(int)


@pytest.fixture(scope="module")
def valid_models():
    return hostile_files.models()


@pytest.mark.parametrize("seed", [101, 102])
def test_two_hundred_mutations_are_refused_or_valid(valid_models, seed):
    numbers = np.random.default_rng(seed).permutation(2000)[:200].tolist()
    found = hostile_files.fuzz(valid_models, numbers, seed)
    assert [str(each) for each in found if each.verdict.startswith("FAILED")] == []
    assert {each.verdict for each in found} == {"refused", "answered"}


def test_a_mutation_depends_only_on_its_number_and_the_seed(valid_models):
    mutations = [
        hostile_files.mutated(model.content, random.Random(f"7 {number}"))
        for _ in range(2)
        for number, model in enumerate(valid_models)
    ]
    assert mutations[: len(valid_models)] == mutations[len(valid_models) :]
    rows, y = hostile_files.scikit_learn_cases.NUMBERS, hostile_files.scikit_learn_cases.THREE
    forests = [make(committee.RandomForestClassifier).fit(rows, y) for _ in range(2)]
    assert hostile_files.saved(forests[0]) == hostile_files.saved(forests[1])


def test_a_crash_of_the_child_process_is_reported(valid_models, monkeypatch):
    monkeypatch.setattr(hostile_files, "__file__", "/dev/null")
    (verdict,) = hostile_files.try_files([(valid_models[0].name, b"", valid_models[0].content, None)])
    assert verdict.startswith("FAILED: crash")


def edited(estimator, tmp_path, edit):
    """Save an estimator, edit its description and its arrays, repair the checksum, and load it."""
    header, arrays = hostile_files.opened(hostile_files.saved(estimator))
    description = hostile_files.json.loads(header["description"])
    edit(description["model"], arrays)
    path = tmp_path / "model"
    path.write_bytes(hostile_files.closed(header, description, arrays))
    return committee.load(path)


def change(name, value):
    """Return an edit that changes the first value of an array."""

    def edit(model, arrays):
        arrays[name].flat[0] = value

    return edit


def replace(name, value):
    """Return an edit that replaces an array."""

    def edit(model, arrays):
        arrays[name] = value(arrays[name]).copy()

    return edit


def widen(n_columns):
    """Return an edit of the number of columns of the support vectors."""

    def edit(model, arrays):
        model["fitted"]["support_vectors_"]["sparse"]["shape"][1] = n_columns

    return edit


def set_parameter(name, value):
    """Return an edit of one parameter."""

    def edit(model, arrays):
        model["parameters"][name] = value

    return edit


def set_fitted(name, value):
    """Return an edit of one attribute."""

    def edit(model, arrays):
        model["fitted"][name] = value

    return edit


def change_curve(value):
    """Return an edit of the first threshold of a calibrated classifier."""

    def edit(model, arrays):
        next(array for name, array in sorted(arrays.items()) if "X_thresholds_" in name)[0] = value

    return edit


def first_curve(edit):
    """Return an edit of the curves of the first calibrated classifier, a list of dicts."""
    return lambda model, arrays: edit(dict(model["fitted"]["calibrated_classifiers_"][0]["dict"])["curves"])


ISOTONIC = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=2)
SIGMOID = CalibratedClassifierCV(GaussianNB(), cv=2)
ATTACKS = [
    (SVC(), change("_n_support", 7), "_n_support does not add up"),
    (SVC(), change("_n_support", -7), "_n_support"),
    (SVC(), change("support_", 2**31 - 1), "support_ holds"),
    (SVC(), replace("_dual_coef_", lambda each: each[:, :-1]), "_dual_coef_ has shape"),
    (SVC(), replace("_intercept_", lambda each: each[:0]), "_intercept_ has shape"),
    (SVC(), replace("support_vectors_", lambda each: each[:, :-1]), "support_vectors_"),
    (SVC(), replace("support_vectors_", lambda each: each.astype(np.float32)), "float32 instead of float64"),
    (SVC(), set_parameter("degree", 2**40), "degree is"),
    (SVC(), set_parameter("kernel", "precomputed"), "kernel"),
    (SVC(), set_fitted("_effective_probability", True), "_probA and _probB must have"),
    (KNeighborsClassifier(), change("_y", 9), "_y holds 9"),
    (KNeighborsClassifier(), change("_fit_X", np.nan), "NaN"),
    (KNeighborsClassifier(), set_parameter("n_jobs", 10**9), "n_jobs is"),
    (KNeighborsClassifier(), set_parameter("leaf_size", 0), "The 'leaf_size' parameter"),
    (LogisticRegression(), change("coef_", 1e300), "coef_ holds"),
    (LogisticRegression(), set_fitted("predict", 3), "'predict' is not on the list"),
    (LogisticRegression(), set_fitted("n_features_in_", 4), "coef_ has shape"),
    (LogisticRegression(), lambda model, arrays: model["fitted"].pop("classes_"), "classes_ is missing"),
    (LogisticRegression(), lambda model, arrays: model.update(estimator="sklearn.svm.Evil"), "no estimator"),
    (LogisticRegression(), lambda model, arrays: model.update(estimator="os.system"), "no estimator"),
    (LogisticRegression(), set_parameter("evil", 1), "has no parameter 'evil'"),
    (LinearDiscriminantAnalysis(), change("intercept_", -np.inf), "infinite for a class of positive prior"),
    (ISOTONIC, change_curve(2.0), "not in ascending order"),
    (ISOTONIC, change_curve(np.nan), "X_thresholds_ holds nan"),
    (ISOTONIC, set_parameter("method", "sigmoid"), "a curve without a_, b_"),
    (ISOTONIC, set_parameter("method", "system"), "The 'method' parameter"),
    (SIGMOID, first_curve(lambda curves: curves.append(curves[0])), "does not hold a curve for each class"),
    (StandardScaler(), change("scale_", 0.0), "scale_ holds 0"),
    (StandardScaler(), change("mean_", np.nan), "missing for other columns"),
    (OneHotEncoder(), set_fitted("_n_features_outs", [1, 1, 1]), "_n_features_outs does not fit"),
    (make_pipeline(StandardScaler()), set_parameter("memory", "/tmp"), "memory is '/tmp' instead of None"),
    (make_pipeline(StandardScaler()), set_parameter("steps", [1]), "steps"),
    (TransformedTargetRegressor(), set_parameter("regressor", 3), "The 'regressor' parameter"),
]  # fmt: skip


@pytest.mark.parametrize("estimator, edit, message", ATTACKS, ids=[each[2] for each in ATTACKS])
def test_an_edited_estimator_of_scikit_learn_is_refused(estimator, edit, message, tmp_path):
    with pytest.raises(DamagedFile) as caught:
        edited(estimator.fit(X, np.abs(y)), tmp_path, edit)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_class_of_prior_zero_can_have_an_infinite_intercept(tmp_path):
    with np.errstate(divide="ignore"):
        model = LinearDiscriminantAnalysis(solver="lsqr", priors=[0.0, 1.0]).fit(X, y)
    assert np.isinf(edited(model, tmp_path, lambda model, arrays: None).intercept_).all()


def test_a_category_or_a_class_that_is_a_list_raises(tmp_path):
    words = np.array([["a"], ["b"]] * 15, dtype=object)
    for model, name in [
        (OneHotEncoder().fit(words), "categories_"),
        (KNeighborsClassifier().fit(X, words[:, 0]), "classes_"),
    ]:
        with pytest.raises(DamagedFile, match=f"{name}.* holds a list, which is not a value of a table"):
            edited(model, tmp_path, lambda model, arrays, name=name: put_list(model["fitted"][name]))


def put_list(written):
    """Replace a value of the first array of text by a list."""
    found = [each for each in hostile_files.places(written) if each[0][each[1]] in ("a", "b")]
    container, key = found[0]
    container[key] = []


def test_indices_of_sparse_support_vectors_must_be_in_range(tmp_path):
    classifier = SVC().fit(hostile_files.scikit_learn_cases.X["sparse"], np.arange(48) % 3)
    for name, value in [("indices", 2**31 - 1), ("indices", -1), ("starts", 5), ("starts", -1)]:
        with pytest.raises(DamagedFile):
            edited(classifier, tmp_path, change(f"support_vectors___{name}", value))
    for length in (2**31, 2**63, 10**30, -1):
        with pytest.raises(DamagedFile, match="support_vectors_ has no shape"):
            edited(classifier, tmp_path, widen(length))
    with pytest.raises(DamagedFile, match="not in order"):
        edited(classifier, tmp_path, replace("support_vectors___indices", lambda each: each[::-1]))
