"""Make smaller versions of a committee to choose from, and measure them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from every_estimator import mixed_frame, target_for
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.semi_supervised import LabelPropagation

import committee
from committee import CommitteeClassifier, CommitteeRegressor, DecisionTreeClassifier
from committee.automatic.offers import Offer, Offers, usual_time

SAVED = Path(__file__).parents[1] / "saved_models"
X, Y = load_iris(return_X_y=True)
TRAIN = np.arange(150) % 3 > 0
MEMBERS = [
    ("stump", DecisionTreeClassifier(max_depth=1)),
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier(15)),
    ("tree", DecisionTreeClassifier(max_depth=3)),
]
FITTED = CommitteeClassifier(MEMBERS, rule="mean", cv=4, keep="all", random_state=0).fit(X[TRAIN], Y[TRAIN])


def reloaded(model, tmp_path):
    model.save(tmp_path / "model.committee")
    return committee.load(tmp_path / "model.committee")


@pytest.fixture
def loaded(tmp_path):
    """Return a committee from a file without honest votes."""
    fitted = CommitteeClassifier(MEMBERS, rule="mean", cv=4, random_state=0).fit(X[TRAIN], Y[TRAIN])
    return reloaded(fitted, tmp_path)


def labels(offers):
    return [each.label for each in offers]


def test_versions_have_the_size_of_their_files_and_no_honest_votes(tmp_path):
    for each in FITTED.shrink(X[TRAIN], Y[TRAIN]):
        loaded = reloaded(each.model, tmp_path)
        # The size of a file depends on the text of its date and times.
        assert abs((tmp_path / "model.committee").stat().st_size - each.n_bytes) < 100
        np.testing.assert_array_equal(loaded.predict_proba(X), each.model.predict_proba(X))
        assert not hasattr(loaded, "honest_votes_")
        assert 0 < each.seconds < 1 and each.has_predictor
    assert FITTED.keep == "all" and hasattr(FITTED, "honest_votes_")


def test_pruned_and_refitted_versions_have_the_honest_loss_of_their_members():
    offers = FITTED.shrink(X[TRAIN], Y[TRAIN])
    names = [name for name, _ in MEMBERS]
    n = [each.method for each in offers].count("prune")
    assert n >= 1
    assert [each.method for each in offers] == ["as it is", *["prune"] * n, *["refit"] * (n + 1), "distil"]
    for each in offers[:-1]:
        places = [names.index(name) for name in each.model.named_estimators_]
        shares = FITTED.honest_votes_[places].mean(axis=0, dtype=float)
        expected = log_loss(Y[TRAIN], shares / shares.sum(axis=1, keepdims=True))
        assert each.score == pytest.approx(-expected)
        assert each.n_models == each.n_members * (1 if each.method == "refit" else 4)
    assert "100 rows of the fit, by models that were not fitted on them" in repr(offers)
    expected = FITTED.refit_full(X[TRAIN], Y[TRAIN]).predict_proba(X)
    np.testing.assert_array_equal(offers[n + 1].model.predict_proba(X), expected)


def test_the_loss_of_a_student_is_that_of_students_of_committees_that_have_not_seen_the_row():
    rng = np.random.default_rng(0)
    noise, signal = rng.normal(size=(300, 4)), rng.normal(size=300)
    # Boosters and neighbours fit the noise of the rows that they have seen.
    fitted = CommitteeRegressor(
        ["booster", ("near", KNeighborsRegressor(1))], rule="mean", cv=3, random_state=0
    )
    fitted.fit(noise[:150], signal[:150])
    for rows in (slice(0, 150), slice(150, 300)):
        student = fitted.shrink(noise[rows], signal[rows], methods=["distil"])[-1]
        assert isinstance(student.model, committee.GradientBoostingRegressor) and student.n_members == 1
        assert -student.score > 0.9 * signal[rows].std()


def test_new_rows_are_scored_by_the_members_themselves(loaded):
    offers = loaded.shrink(X[~TRAIN], Y[~TRAIN])
    assert -offers[0].score == pytest.approx(log_loss(Y[~TRAIN], loaded.predict_proba(X[~TRAIN])))
    alone = offers[-2]
    assert (alone.method, alone.n_members) == ("prune", 1)
    assert -alone.score == pytest.approx(log_loss(Y[~TRAIN], alone.model.predict_proba(X[~TRAIN])))
    assert "the 50 given rows" in repr(offers) and "refit changes nothing" in repr(offers)
    with pytest.raises(ValueError, match="which is not a class of the fit"):
        loaded.shrink(X[~TRAIN], Y[~TRAIN] + 1)


def test_a_file_without_votes_gets_them_from_the_table_of_the_fit(loaded):
    first, second = (loaded.shrink(X[TRAIN], Y[TRAIN]) for _ in range(2))
    assert [each.score for each in first] == [each.score for each in second]
    assert "prune to 1 member" in labels(first) and first[-1].method == "distil"
    honest = -first[0].score
    assert log_loss(Y[TRAIN], loaded.predict_proba(X[TRAIN])) < honest < 0.3
    assert not hasattr(loaded, "honest_votes_")


def test_what_a_method_needs_is_named(loaded):
    offers = loaded.shrink()
    assert labels(offers) == ["as it is"]
    assert offers[0].score == loaded._record.leaderboard.committee.score
    for method, way in (("prune", "or fit with keep='all'"), ("distil", "needs a table")):
        with pytest.raises(ValueError, match=rf"^There is no version to {method}\. {method} .*{way}"):
            offers.best(method)
    unlabelled = loaded.shrink(X)
    assert labels(unlabelled) == ["as it is", "distil to one booster"] and unlabelled[1].score is None
    assert "refit needs the table of the fit" in repr(FITTED.shrink(methods=["refit"]))
    with pytest.raises(ValueError, match="About 50 % of the rows of the fit are in this table"):
        loaded.shrink(X[TRAIN][::2], Y[TRAIN][::2])
    for wrong, message in (({"methods": ["trim"]}, "methods must be some of"), ({"max_members": 0}, ">= 1")):
        with pytest.raises(ValueError, match=message):
            loaded.shrink(**wrong)


def test_the_best_version_has_the_lowest_loss_within_the_limits():
    def offer(method, n_members, n_bytes, seconds, score):
        return Offer(method, None, n_members, n_members, n_bytes, seconds, score=score)

    versions = (
        offer("as it is", 3, 900, 3e-3, -0.1),
        offer("prune", 2, 500, 2e-3, -0.2),
        offer("refit", 2, 400, 1e-3, -0.2),
        offer("distil", 1, 100, 1e-4, -0.3),
    )
    offers = Offers(versions, "neg_log_loss", "")
    assert offers.best() is versions[0]
    assert offers.best(max_members=2) is offers.best(max_bytes=600) is versions[2]
    assert offers.best("prune") is versions[1]
    assert offers.best(max_latency=5e-4) is versions[3]
    with pytest.raises(ValueError, match=r"smallest, distil to one booster, has 100 bytes and takes 0.1 ms"):
        offers.best(max_bytes=10)
    with pytest.raises(ValueError, match=r"or None\. Got 'trim'"):
        offers.best("trim")


def test_a_regression_with_weights_and_groups_is_shrunk():
    table, y = load_diabetes(return_X_y=True, as_frame=True)
    weights, groups = np.arange(len(y)) % 3, np.arange(len(y)) // 4
    fitted = CommitteeRegressor(["linear", "booster"], rule="mean", cv=3, random_state=0)
    fitted.fit(table, y, weights, groups)
    fitted._honest = None
    offers = fitted.shrink(table, y, weights, groups, max_members=1)
    assert labels(offers)[:2] == ["as it is", "prune to 1 member"]
    student = offers[-1]
    found = root_mean_squared_error(y, student.model.predict(table), sample_weight=weights)
    assert 0 < found < -student.score < 1.1 * y.std()


def test_versions_of_a_committee_with_costs_keep_its_costs():
    two = Y > 0
    fitted = CommitteeClassifier(["linear", "c45"], threshold=0.05, cv=3, keep="all", random_state=0).fit(
        X, two
    )
    for each in fitted.shrink(X, two):
        decided = each.model.predict(X) == fitted.predict(X)
        assert decided.mean() > 0.97


def test_a_committee_whose_rule_looks_at_rows_is_shrunk():
    fitted = CommitteeClassifier(MEMBERS, rule="dynamic", cv=3, keep="all", random_state=0)
    fitted.fit(X[TRAIN], Y[TRAIN])
    for rows in ((), (X[TRAIN], Y[TRAIN]), (X[~TRAIN], Y[~TRAIN]), (X[~TRAIN],)):
        for each in fitted.shrink(*rows, methods=["prune"]):
            assert each.model.predict_proba(X).shape == (150, 3) and each.score < 0
    fitted._honest = None
    assert all(each.score < 0 for each in fitted.shrink(X[TRAIN], Y[TRAIN]))


@pytest.mark.parametrize("version", ["version_1", "version_2"])
@pytest.mark.parametrize("name", ["CommitteeClassifier", "CommitteeRegressor"])
def test_committees_of_older_files_are_shrunk(version, name):
    model = committee.load(SAVED / version / f"{name}.committee")
    for offers in (model.shrink(), model.shrink(methods=["refit"])):
        assert offers[0].method == "as it is" and offers[0].n_members == len(model.estimators_)


def test_versions_are_printed_with_four_digits():
    versions = [
        Offer("as it is", None, 9, 72, 4_321_000, 0.0123, score=score) for score in (-22563.7, -0.05126)
    ]
    first, second = (repr(Offers((each,), "neg_root_mean_squared_error", "")) for each in versions)
    assert first.splitlines()[1].split() == ["as", "it", "is", "9", "72", "4.3", "MB", "12.3", "ms", "22564"]
    assert second.splitlines()[1].endswith(" 0.05126")


@pytest.mark.parametrize("kind", [CommitteeClassifier, CommitteeRegressor])
def test_tables_with_columns_of_any_type_are_timed_row_by_row(kind):
    frame, signal = mixed_frame(80, seed=1)
    frame = frame.assign(since=pd.date_range("2024-01-01", periods=80))
    y = target_for(kind(), signal)
    fitted = kind(["booster", "linear"], cv=2, rule="mean", random_state=0).fit(frame, y)
    for rows in (frame, None):
        assert all(each.has_predictor for each in fitted.shrink(rows, methods=["prune"]))


def test_a_member_without_a_predictor_is_timed_by_predict():
    members = [("bayes", GaussianNB()), ("nu", LabelPropagation())]
    fitted = CommitteeClassifier(members, rule="mean", cv=2, keep="all", random_state=0).fit(X, Y)
    offers = fitted.shrink(methods=["prune"])
    assert not offers[0].has_predictor
    assert "*: of predict, because a member needs the library that fitted it." in repr(offers)


def test_rows_are_timed_in_turn():
    asked = []
    assert usual_time(asked.append, [1, 2, 3]) >= 0
    assert asked[:4] == [1, 2, 3, 1]
