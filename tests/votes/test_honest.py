"""Test honest votes: selection of rows and members, and out-of-fold decisions of rules."""

import numpy as np
import pytest

from committee.combining.selection.greedy_selection import BestMemberRule
from committee.metrics.row_losses import NoValueError
from committee.task import Regression
from committee.votes.honest_votes import HonestVotes

VOTES = np.array([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]], [[0.1, 0.9]] * 4])
Y = [0, 0, 1, 1]
FOLDS = [(np.array([0, 2]), np.array([1, 3])), (np.array([1, 3]), np.array([0, 2]))]


def honest(**given):
    return HonestVotes.of(VOTES, Y, **given)


def test_selecting_rows_selects_their_y_weights_groups_and_X():
    found = honest(
        X=np.arange(8).reshape(4, 2),
        sample_weight=[1, 2, 3, 4],
        has_voted=np.array([[True] * 4, [True, True, False, True]]),
        groups=np.array([7, 7, 8, 9]),
    ).on(np.array([2, 0]))
    assert found.rows.tolist() == [2, 0] and found.y.tolist() == [1, 0]
    assert found.weights.tolist() == [3, 1] and found.groups.tolist() == [8, 7]
    assert found.X.tolist() == [[4, 5], [0, 1]] and found.has_voted.tolist() == [[True] * 2, [False, True]]
    assert found.on(np.array([1])).rows.tolist() == [0]


def test_selecting_members_selects_their_votes():
    found = honest(has_voted=np.array([[True] * 4, [False] * 4])).of_members([1])
    assert found.n_members == 1 and not found.has_voted.any()
    np.testing.assert_array_equal(found.votes, VOTES[1:])


def test_rows_without_a_vote_of_every_member_are_dropped():
    first = [(np.array([0, 1]), np.array([[1.0], [2.0]])), (np.array([1, 2]), np.array([[4.0], [5.0]]))]
    second = [(np.array([1, 2]), np.array([[6.0], [7.0]]))]
    found = HonestVotes.of_models([first, second], Regression(), np.array([9.0, 8.0, 7.0]), None, None)
    assert found.rows.tolist() == [1, 2] and found.y.tolist() == [8, 7]
    assert found.votes[:, :, 0].tolist() == [[3, 5], [6, 7]]
    with pytest.raises(ValueError, match="No row has an honest vote of every member"):
        HonestVotes.of_models([first, second[:0]], Regression(), np.array([9.0, 8.0, 7.0]), None, None)


def test_out_of_fold_decisions_come_from_rules_fitted_on_the_training_rows():
    fitted_on = []

    class RecordingRule(BestMemberRule):
        def _learn(self, honest):
            fitted_on.append(honest.y.tolist())
            super()._learn(honest)

    decision = honest().decide_out_of_fold(lambda: RecordingRule(scoring="accuracy"), FOLDS)
    np.testing.assert_allclose(decision, VOTES[0])
    assert fitted_on == [[0, 1], [0, 1]]


def test_rows_have_no_decision_after_the_deadline():
    decision = honest().decide_out_of_fold(BestMemberRule, FOLDS, seconds=1.0, deadline=-np.inf)
    assert np.isnan(decision).all()


def test_errors_of_a_fit_leave_its_fold_without_a_decision_only_if_they_are_listed():
    class FailingRule(BestMemberRule):
        def _learn(self, honest):
            if honest.votes[0, 0, 0] == 0.9:
                raise NoValueError("no value")
            super()._learn(honest)

    decision = honest().decide_out_of_fold(FailingRule, FOLDS, undecided=(NoValueError,))
    assert np.isnan(decision[:, 0]).tolist() == [False, True, False, True]
    with pytest.raises(NoValueError):
        honest().decide_out_of_fold(FailingRule, FOLDS)


def test_folds_are_reproducible_and_empty_if_no_row_can_be_held_out():
    first, again = honest().folds(), honest().folds()
    assert [held_out.tolist() for _, held_out in first] == [held_out.tolist() for _, held_out in again]
    assert HonestVotes.of(VOTES[:, :2], [0, 1]).folds() == []
