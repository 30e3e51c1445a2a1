"""Test leaderboards: intervals and differences against formulas, their order, their text and their files."""

import numpy as np
import pytest
import scipy.stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import committee
from committee import (
    CommitteeClassifier,
    CommitteeRegressor,
    DecisionTreeClassifier,
    VotingClassifier,
    VotingRegressor,
)
from committee.assembling import Leaderboard, Standing
from committee.assembling.fit_record import FitRecord
from committee.assembling.fitted_committee import NoHonestVotesError
from committee.assembling.leaderboard import Estimate, leaderboard_of
from committee.metrics.scoring import metric_of
from committee.saving import Fields
from committee.votes.honest_votes import HonestVotes

X, Y = load_iris(return_X_y=True)
CELLS, KINDS = load_breast_cancer(return_X_y=True)
MEMBERS = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]


def standing(board, name):
    return next(each for each in board if each.name == name)


@pytest.fixture(scope="module")
def voting():
    return VotingClassifier(MEMBERS, cv=5, random_state=0).fit(X, Y)


def test_intervals_and_differences_equal_the_formulas_of_paired_means(voting):
    losses = -np.log(np.take_along_axis(voting.honest_votes_, Y[None, :, None], axis=2)[:, :, 0] + 1e-300)
    losses = np.minimum(losses, -np.log(np.finfo(float).eps))
    mean = -np.log(np.take_along_axis(voting.honest_votes_.mean(axis=0), Y[:, None], axis=1)[:, 0])
    board = voting.leaderboard([], scoring="neg_log_loss")
    for name, member in zip(("bayes", "stump"), losses, strict=True):
        found = standing(board, name)
        error = member.std(ddof=1) / np.sqrt(len(Y))
        assert found.score == pytest.approx(-member.mean(), rel=1e-5)
        assert found.low == pytest.approx(found.score - 1.96 * error, rel=1e-4)
        difference = member - mean
        expected = difference.mean() / (difference.std(ddof=1) / np.sqrt(len(Y)))
        assert found.standard_errors == pytest.approx(expected, rel=1e-3)
        assert found.is_significant == (abs(expected) >= 2)


def test_the_interval_of_an_accuracy_is_that_of_wilson(voting):
    found = standing(voting.leaderboard([], scoring="accuracy"), "bayes")
    n_right = round(found.score * len(Y))
    # Without the correction of the standard error for the estimated mean, n would be exactly the rows.
    exact = scipy.stats.binomtest(n_right, len(Y)).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=5e-4)


def test_an_accuracy_without_any_error_has_an_interval():
    y = np.repeat([0, 1], 10)
    right = np.eye(2)[y][None].astype(np.float32)
    honest = HonestVotes(right, y, np.ones(20), np.arange(20), None, classes=np.array([0, 1]))
    found = leaderboard_of(honest, ["sure"], [], "accuracy", 0)[0]
    exact = scipy.stats.binomtest(20, 20).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((exact.low, 1.0), abs=1e-4)


def test_a_committee_of_one_member_is_not_different_from_it(voting):
    votes = voting.honest_votes_[1:].astype(np.float64)
    honest = HonestVotes(votes, Y, np.ones(len(Y)), np.arange(len(Y)), None, classes=np.arange(3))
    metric = metric_of("neg_log_loss", 3, np.arange(3))
    exact, rounded = (Estimate.of(metric, honest, np.maximum(votes[0], 0.1) * near) for near in (1, 1 + 1e-8))
    assert rounded.score != exact.score and rounded.better_by(exact) == 0


def test_the_interval_of_a_root_follows_from_that_of_the_mean():
    table, y = load_diabetes(return_X_y=True)
    fitted = VotingRegressor([("line", LinearRegression())], cv=5).fit(table, y)
    squares = (fitted.honest_votes_[0, :, 0] - y[fitted.honest_rows_]) ** 2
    found = standing(fitted.leaderboard([], scoring="neg_root_mean_squared_error"), "line")
    error = squares.std(ddof=1) / np.sqrt(len(y)) / 2 / np.sqrt(squares.mean())
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error)


def test_metrics_that_are_no_mean_have_an_interval_by_leaving_groups_of_rows_out(voting):
    def accuracy(y, decision, weights):
        return np.average(decision.argmax(axis=1) == y, weights=weights)

    exact, by_groups = (
        standing(voting.leaderboard([], scoring=scoring), "stump") for scoring in ("accuracy", accuracy)
    )
    assert by_groups.score == pytest.approx(exact.score)
    assert by_groups.score - by_groups.low == pytest.approx(exact.score - exact.low, rel=0.4)
    area = voting.leaderboard([], scoring="roc_auc_ovr")[0]
    assert 0 < area.high - area.low < 0.2


def test_rows_of_a_group_count_together_in_an_interval():
    rows = np.repeat(np.arange(len(Y)), 4)
    alone = VotingClassifier(MEMBERS, cv=3).fit(X[rows], Y[rows], groups=rows)
    board = alone.leaderboard([], scoring="neg_brier_score")
    once = VotingClassifier(MEMBERS, cv=3).fit(X, Y).leaderboard([], scoring="neg_brier_score")
    widths = [standing(each, "stump").score - standing(each, "stump").low for each in (board, once)]
    assert widths[0] == pytest.approx(widths[1], rel=0.3)


def test_the_baseline_is_the_entropy_of_the_classes_or_the_variance_of_the_target(voting):
    shares = voting.leaderboard([], scoring="neg_log_loss").baseline
    assert shares.score == pytest.approx(-np.log(3)) and shares.label == "class shares (baseline)"
    assert voting.leaderboard([]).baseline.label == "most frequent class (baseline)"


def test_a_long_leaderboard_fits_a_screen(voting):
    board = voting.leaderboard(X=X)
    lines = repr(board).splitlines()
    assert len(lines) == 25 < len(board) and max(map(len, lines)) <= 110
    assert "more" in lines[-2] and "baseline" in lines[-1]


def test_scores_that_cannot_be_compared_have_no_verdict():
    lone = Leaderboard([Standing("member", "tree", 0.5)], "accuracy")
    assert lone.committee is None and lone[0].is_significant is None and lone[0].verdict == ""


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_the_record_of_a_fit_is_saved_and_needs_no_votes(task, tmp_path):
    if task == "classes":
        fitted = CommitteeClassifier(["linear", "c45"], random_state=0).fit(CELLS, KINDS)
    else:
        fitted = CommitteeRegressor(["linear", "forest"], random_state=0).fit(*load_diabetes(return_X_y=True))
    fitted.save(tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    assert loaded._record == fitted._record and loaded._record.n_folds == 8
    board = loaded._record.leaderboard
    assert list(board) == list(fitted.leaderboard([]))
    assert board[1].title in ("linear model", "C4.5 tree") and board[1].fit_seconds > 0
    loaded._honest = None
    assert loaded.leaderboard() is board
    with pytest.raises(NoHonestVotesError, match="Call leaderboard\\(\\) without arguments"):
        loaded.leaderboard(["mean"])


def test_another_rule_or_fewer_members_get_a_new_leaderboard(tmp_path):
    fitted = CommitteeClassifier(["linear", "c45"], random_state=0).fit(CELLS, KINDS)
    for other, name in ((fitted.recombine("mean"), "mean"), (fitted.prune(max_members=1), "best_member")):
        other.save(tmp_path / "other.committee")
        board = committee.load(tmp_path / "other.committee")._record.leaderboard
        assert board.committee.name == name
        assert {each.name for each in board.members} == set(other.named_estimators_)


def test_skipped_members_and_their_reasons_are_recorded(monkeypatch):
    class Failing(KNeighborsClassifier):
        def fit(self, X, y):
            raise OSError("The disk is full.")

    with pytest.warns(RuntimeWarning, match="'near' is dropped"):
        fitted = CommitteeClassifier([("near", Failing()), "linear"], random_state=0).fit(X, Y)
    (left,) = fitted._record.skipped
    assert (left.name, left.reason) == ("near", "a fit failed (OSError: The disk is full.)")
    again = FitRecord.take(Fields(fitted._record.fields()))
    assert again == fitted._record


@pytest.mark.parametrize("broken", [{"kind": "jury"}, {"score": "high"}, {"low": "x"}, {"more": 1}])
def test_a_damaged_record_is_refused(broken):
    written = Leaderboard([Standing("member", "tree", 0.5)], "accuracy").fields()
    written["standings"] = [written["standings"][0] | broken]
    with pytest.raises(committee.saving.DamagedFile):
        Leaderboard.take(Fields(written))
