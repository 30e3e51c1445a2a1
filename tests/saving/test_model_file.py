"""Saving and loading change nothing."""

import numpy as np
import pandas as pd
import pytest
from edited_files import change
from every_estimator import (
    COMMITTEES,
    ESTIMATORS,
    EXPERTS,
    make,
    mixed_frame,
    name_of,
    needs_two_classes,
    public_types,
    target_for,
    votes_of,
)
from sklearn.base import clone, is_classifier

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LogitBoostClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from committee.combining import MODULES
from committee.saving import DamagedFile, Saveable
from committee.saving.saved_estimators import SAVED, class_named
from committee.table import Schema, bin_table

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS + EXPERTS, ids=name_of)
WARM_STARTS = [
    make(RandomForestClassifier, oob_score=True, oob_importances=True),
    make(RandomForestRegressor, keep_leaf_rows=True, oob_score=True),
    make(AdaBoostClassifier, store_weights=True),
    make(AdaBoostM2Classifier),
    make(AdaBoostRegressor),
    make(GradientBoostingClassifier),
    make(GradientBoostingRegressor),
    make(LogitBoostClassifier),
]


def test_every_public_estimator_registers_itself_and_no_other_class_does():
    public = {name for name in committee.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert all(class_named(name) is getattr(committee, name) for name in public)
    others = {*MODULES, "MidpointClassifier", "NumberedLabels", "TableEncoder"}
    assert SAVED.keys() <= public | others
    assert class_named("Study") is class_named("load") is class_named("Rule") is None


def test_a_user_defined_class_with_the_name_of_our_own_class_is_not_saved_as_it(tmp_path):
    other = type("C45Classifier", (committee.C45Classifier,), {})
    with pytest.raises(TypeError, match="of a class that committee does not store itself"):
        committee.save(other(), tmp_path / "model")


@pytest.fixture
def saved_and_loaded(tmp_path):
    def save_and_load(estimator):
        estimator.save(tmp_path / "model.committee")
        committee.verify(tmp_path / "model.committee")
        return committee.load(tmp_path / "model.committee")

    return save_and_load


def state_of(value):
    """Return the full state of an estimator as values that can be compared."""
    if isinstance(value, Saveable):
        return {name: state_of(each) for name, each in vars(value).items()}
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    if isinstance(value, list | tuple):
        return type(value), [state_of(each) for each in value]
    if isinstance(value, dict):
        return {name: state_of(each) for name, each in value.items()}
    if type(value).__module__.startswith("committee") and not isinstance(value, Schema):
        return type(value), state_of(value.__getstate__() or {})
    return repr(value)


def assert_same(loaded, saved):
    assert type(loaded) is type(saved)
    assert state_of(loaded) == state_of(saved)


@every_estimator
def test_an_estimator_that_is_not_fitted_keeps_its_parameters(estimator, saved_and_loaded):
    loaded = saved_and_loaded(estimator)
    assert_same(loaded, estimator)
    frame, signal = mixed_frame()
    y = target_for(estimator, signal)
    np.testing.assert_array_equal(
        votes_of(loaded.fit(frame, y), frame), votes_of(clone(estimator).fit(frame, y), frame)
    )


@every_estimator
def test_a_fitted_estimator_is_the_same_to_the_last_bit(estimator, saved_and_loaded):
    frame, signal = mixed_frame()
    saved = clone(estimator).fit(frame, target_for(estimator, signal))
    loaded = saved_and_loaded(saved)
    assert_same(loaded, saved)
    np.testing.assert_array_equal(votes_of(loaded, frame), votes_of(saved, frame))
    np.testing.assert_array_equal(loaded.predict(frame), saved.predict(frame))
    assert list(loaded.feature_names_in_) == list(frame.columns)
    assert_same(saved_and_loaded(loaded), saved)


@every_estimator
def test_a_matrix_of_one_row_or_one_class_is_enough(estimator, saved_and_loaded):
    X, y = np.array([[1.0, np.nan, 3.0]]), [7]
    if needs_two_classes(estimator):
        X, y = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, 3.0]]), [7, 8]
    saved = clone(estimator).fit(X, y)
    assert_same(saved_and_loaded(saved), saved)


@every_estimator
def test_columns_without_values_or_of_one_category_are_saved(estimator, saved_and_loaded):
    frame, signal = mixed_frame()
    frame = frame.assign(empty=np.nan, nothing=pd.Categorical([None] * len(frame)), same="x")
    frame["day"] = pd.Timestamp("2024-02-29") + pd.to_timedelta(np.arange(len(frame)), unit="D")
    saved = clone(estimator).fit(frame, target_for(estimator, signal))
    loaded = saved_and_loaded(saved)
    assert_same(loaded, saved)
    np.testing.assert_array_equal(votes_of(loaded, frame), votes_of(saved, frame))


@pytest.mark.parametrize("estimator", WARM_STARTS, ids=name_of)
def test_a_warm_start_after_loading_equals_one_without_saving(estimator, saved_and_loaded):
    frame, signal = mixed_frame()
    y = target_for(estimator, signal)
    saved = clone(estimator).set_params(warm_start=True).fit(frame, y)
    loaded = saved_and_loaded(saved)
    assert_same(loaded, saved)
    n_estimators = saved.n_estimators + 4
    for each in (saved, loaded):
        each.set_params(n_estimators=n_estimators).fit(frame, y)
    assert_same(loaded, saved)


@pytest.mark.parametrize("labels", [["b", "a"], [2.0, -1.0], [True, False], np.array([3, 1], dtype=np.int8)])
def test_labels_keep_their_type(labels, saved_and_loaded):
    y = np.array(labels * 5 if isinstance(labels, list) else np.tile(labels, 5))
    X = np.arange(10.0)[:, np.newaxis]
    for target in (y, y.astype(object)):
        saved = DecisionTreeClassifier().fit(X, target)
        loaded = saved_and_loaded(saved)
        assert loaded.classes_.dtype == saved.classes_.dtype
        np.testing.assert_array_equal(loaded.predict(X), saved.predict(X))


def test_categories_of_all_types_are_saved(saved_and_loaded):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": pd.Categorical(rng.integers(0, 4, 40)),
            "half": pd.Categorical(rng.choice([0.5, 1.5, np.inf], 40)),
            "truth": pd.Categorical(rng.random(40) < 0.5),
            "day": pd.Categorical(rng.choice(pd.to_datetime(["2024-01-01", "2024-05-05"]).date, 40)),
            "text": rng.choice(["", "ÿ", "\U0001f332", 'a"b\\c\n'], 40),
        }
    )
    saved = make(RandomForestClassifier).fit(frame, rng.integers(0, 2, 40))
    assert_same(saved_and_loaded(saved), saved)


def test_target_statistics_of_a_booster_are_saved(saved_and_loaded):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": rng.integers(0, 60, 300).astype(str), "x": rng.normal(size=300)})
    for estimator, y in (
        (make(GradientBoostingClassifier), rng.integers(0, 3, 300)),
        (make(GradientBoostingRegressor), rng.normal(size=300)),
    ):
        saved = estimator.fit(frame, y)
        loaded = saved_and_loaded(saved)
        assert_same(loaded, saved)
        np.testing.assert_array_equal(loaded.predict(frame), saved.predict(frame))


@pytest.mark.parametrize(
    "parameters",
    [
        {"random_state": np.random.RandomState(3), "class_weight": {"low": 0.1, "high": np.float32(2)}},
        {
            "max_features": np.int64(2),
            "max_depth": 10**30,
            "categorical_features": ["count"],
            "random_state": 1,
        },
        {"categorical_features": np.array([False, True, False, False]), "min_impurity_decrease": -0.0},
        {"monotonic_cst": [1, 0, 0, 0], "max_features": np.float64(0.5), "random_state": 1},
        {"monotonic_cst": np.array([1, 0, 0, 0], dtype=">i4")},
    ],
)
def test_unusual_parameters_are_saved(parameters, saved_and_loaded):
    frame, signal = mixed_frame()
    saved = DecisionTreeClassifier(**parameters)
    loaded = saved_and_loaded(saved)
    y = target_for(saved, signal)
    np.testing.assert_array_equal(votes_of(loaded.fit(frame, y), frame), votes_of(saved.fit(frame, y), frame))


def test_a_loaded_random_state_continues_with_the_same_numbers(saved_and_loaded):
    generator = np.random.RandomState(3)
    generator.normal(size=5)
    loaded = saved_and_loaded(DecisionTreeClassifier(random_state=generator)).random_state
    assert (loaded.normal(size=700) == generator.normal(size=700)).all()


def test_an_invalid_parameter_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match=r"^max_depth must be an integer >= 1 or None\. Got 0\.$"):
        DecisionTreeClassifier(max_depth=0).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "estimator, path",
    [
        (RandomForestClassifier(oob_score=lambda y_true, y_pred: 0.5), "oob_score"),
        (AdaBoostClassifier(DecisionTreeClassifier(random_state=object())), "estimator__random_state"),
        (GradientBoostingRegressor(loss=lambda y, scores: (scores - y, np.ones_like(y))), "loss"),
        (DecisionTreeClassifier(categorical_features=iter([0])), "categorical_features"),
    ],
)
def test_code_is_not_saved_and_the_error_names_the_parameter(estimator, path, tmp_path):
    with pytest.raises(TypeError, match=rf"^{path} is a .*{path}.* before saving\.$"):
        estimator.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_every_public_estimator_is_tested():
    # Files of committees are tested in tests/assembling.
    tried = {name_of(estimator) for estimator in ESTIMATORS + EXPERTS + COMMITTEES}
    assert tried == {each.__name__ for each in public_types()}
    assert all(is_classifier(each) or hasattr(each, "predict") for each in ESTIMATORS)


def test_the_summary_contains_scores_and_data(tmp_path):
    X = np.arange(40.0)[:, np.newaxis]
    forest = make(RandomForestRegressor, n_estimators=30, oob_score=True).fit(X, X[:, 0])
    forest.save(tmp_path / "model")
    summary = committee.verify(tmp_path / "model")
    assert summary.scores == {"out_of_bag": forest.oob_score_}
    assert (summary.data.n_rows, summary.data.n_columns) == (40, 1)
    assert summary.is_fitted
    assert summary.estimator == "committee.RandomForestRegressor"
    assert summary.versions.keys() == {"python", "committee", "numpy", "scikit-learn"}
    assert summary.n_bytes == (tmp_path / "model").stat().st_size


def test_the_fingerprint_depends_on_the_values_only(tmp_path):
    frame, signal = mixed_frame()

    def fingerprint(X, y, **more):
        DecisionTreeRegressor().fit(X, y, **more).save(tmp_path / "model")
        assert committee.load(tmp_path / "model")._data == committee.verify(tmp_path / "model").data
        return committee.verify(tmp_path / "model").data.fingerprint

    usual = fingerprint(frame, signal)
    assert usual == fingerprint(frame.convert_dtypes(), signal.tolist())
    changed = frame.assign(count=frame["count"].where(frame.index != 3, 77))
    others = [(changed, signal), (frame, signal + (frame.index == 3)), (frame[::-1], signal[::-1])]
    found = {fingerprint(*each) for each in others} | {fingerprint(frame, signal, sample_weight=np.ones(60))}
    assert len(found | {usual}) == 5
    binned = bin_table(frame)
    DecisionTreeRegressor().fit(binned, signal).save(tmp_path / "model")
    assert committee.verify(tmp_path / "model").data is None


def test_the_data_of_a_committee_are_those_of_its_members(tmp_path):
    frame, signal = mixed_frame()
    tree = DecisionTreeRegressor().fit(frame, signal)
    voting = VotingRegressor([("tree", DecisionTreeRegressor())]).fit(frame, signal)
    for model in (voting, voting.recombine("median")):
        model.save(tmp_path / "model")
        assert (
            committee.verify(tmp_path / "model").data
            == tree._data
            == committee.load(tmp_path / "model")._data
        )


def test_scores_must_be_numbers(tmp_path):
    DecisionTreeRegressor().fit([[1.0]], [1.0]).save(tmp_path / "model")
    for score in ("high", True, None, [1.0]):
        change(
            tmp_path / "model",
            lambda description, arrays, score=score: description["scores"].update(out_of_bag=score),
        )
        for read in (committee.verify, committee.load, committee.predictor):
            with pytest.raises(DamagedFile, match="scores__out_of_bag is not a number"):
                read(tmp_path / "model")


def test_dates_that_are_categories_are_loaded_as_dates(saved_and_loaded):
    frame = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=6)})
    model = DecisionTreeClassifier(categorical_features=["day"]).fit(frame, [0, 1, 0, 1, 1, 0])
    loaded = saved_and_loaded(model)
    assert loaded.schema_ == model.schema_
    later = frame + pd.Timedelta(days=100)
    assert np.array_equal(loaded.predict_proba(later), model.predict_proba(later))


def test_the_error_names_a_column_whose_categories_cannot_be_saved(tmp_path):
    periods = pd.DataFrame({"month": pd.period_range("2024-01", periods=6, freq="M").astype("category")})
    tree = DecisionTreeClassifier().fit(periods, [0, 0, 0, 1, 1, 1])
    with pytest.raises(TypeError, match="Column 'month' has categories of type Period"):
        tree.save(tmp_path / "tree.committee")


def test_a_category_of_dates_is_saved(tmp_path):
    dates = pd.date_range("2024-01-01", periods=6).astype("category")
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"day": dates}), [0, 1, 0, 1, 0, 1])
    tree.save(tmp_path / "tree.committee")
    found = committee.load(tmp_path / "tree.committee").predict(pd.DataFrame({"day": dates}))
    np.testing.assert_array_equal(found, [0, 1, 0, 1, 0, 1])
