"""Test that selected rows of a large table are read without a copy and equal a copy."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import committee
from committee.assembling import member_fits
from committee.assembling.named_members import encoded
from committee.members.training_set import TrainingSet
from committee.table import read, to_codes
from committee.table.schema import PartColumns, take_rows
from committee.table.source import Source, open_source
from committee.task import Classification

rng = np.random.default_rng(0)
N_ROWS = 240
NUMBERS = rng.normal(size=N_ROWS).round(1)
NUMBERS[::7] = np.nan
FRAME = pa.table(
    {
        "number": NUMBERS,
        "whole": rng.integers(0, 9, N_ROWS).astype(np.int8),
        "is_new": rng.random(N_ROWS) < 0.3,
        "city": pa.array(rng.choice(["Bonn", "Oslo", "Rome", None], N_ROWS).tolist()).dictionary_encode(),
    }
)
Y = np.where(np.nan_to_num(NUMBERS) + rng.normal(size=N_ROWS) > 0, "yes", "no")
ROWS = np.sort(rng.permutation(N_ROWS)[:180])
DRAWN = np.sort(rng.choice(ROWS, len(ROWS)))
WEIGHTS = rng.integers(1, 4, N_ROWS).astype(float)


def test_a_part_equals_a_copy_of_its_rows():
    part, copy = read(open_source(FRAME).part(ROWS)), read(take_rows(FRAME, ROWS))
    assert isinstance(part.columns, PartColumns)
    assert part.schema == copy.schema and part.n_rows == copy.n_rows
    for mine, theirs in zip(part.columns, copy.columns, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(part.as_matrix(slice(110, 150)), copy.as_matrix(slice(110, 150)))
    np.testing.assert_array_equal(part.between(3, 9).columns[3], copy.columns[3][3:9])
    assert part.columns[1:3][0].dtype == np.int8


@pytest.mark.parametrize("weights", [None, rng.integers(1, 9, len(ROWS)).astype(np.uint32)])
@pytest.mark.parametrize("max_bins", [4, 65_535])
@pytest.mark.parametrize("rows", [ROWS, DRAWN], ids=["once", "drawn"])
@pytest.mark.parametrize("frame", [FRAME, FRAME.select(["city"])], ids=["mixed", "categories"])
def test_a_part_has_the_bins_of_its_own_rows(weights, max_bins, rows, frame):
    part, copy = read(open_source(frame).part(rows)), read(take_rows(frame, rows))
    mine, theirs = (to_codes(each, weights, 1, max_bins).codes.__getstate__() for each in (part, copy))
    for name in theirs:
        np.testing.assert_array_equal(mine[name], theirs[name])


@pytest.mark.parametrize(
    "estimator",
    [
        committee.GradientBoostingClassifier(20, random_state=0),
        committee.LogitBoostClassifier(10, random_state=0),
        committee.RandomForestClassifier(5, random_state=0),
        committee.NetworkClassifier(max_steps=9, random_state=0),
        encoded(LogisticRegression()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("rows", [ROWS, DRAWN], ids=["once", "drawn"])
@pytest.mark.parametrize("frame", [FRAME, FRAME.select(["city"])], ids=["mixed", "categories"])
def test_members_learn_the_same_from_a_part(monkeypatch, estimator, has_weights, rows, frame):
    monkeypatch.setattr(member_fits, "MANY_VALUES", 1)
    part = member_fits.rows_for(estimator, frame, rows)
    assert isinstance(part, Source) and part.native is None
    weights = WEIGHTS[rows] if has_weights else None
    models = [
        member_fits.fit_member(clone(estimator), X, Y[rows], weights, are_classes=True)
        for X in (part, take_rows(frame, rows))
    ]
    mine, theirs = (model.predict_proba(frame) for model in models)
    np.testing.assert_array_equal(mine, theirs)


def test_members_that_need_the_original_container_get_a_copy(monkeypatch):
    monkeypatch.setattr(member_fits, "MANY_VALUES", 1)
    for estimator in (committee.C45Classifier(), committee.RandomForestClassifier(rule="cawpe")):
        assert isinstance(member_fits.rows_for(estimator, FRAME, ROWS), pa.Table)
    untyped = np.array([["a", 1.5], ["b", None], ["a", 2.5]], dtype=object)
    booster = committee.GradientBoostingClassifier()
    assert member_fits.rows_for(booster, untyped, np.array([0, 2])).tolist() == [["a", 1.5], ["a", 2.5]]


def test_small_tables_are_copied():
    booster = committee.GradientBoostingClassifier()
    assert isinstance(member_fits.rows_for(booster, FRAME, ROWS), pa.Table)


def test_a_committee_fitted_on_parts_equals_one_fitted_on_copies(monkeypatch):
    def decided():
        members = ["booster", "linear", "c45"]
        automatic = committee.CommitteeClassifier(members, cv=2, rule="mean", random_state=0)
        return automatic.fit(FRAME, Y).predict_proba(FRAME)

    copies = decided()
    monkeypatch.setattr(member_fits, "MANY_VALUES", 1)
    np.testing.assert_array_equal(decided(), copies)


def test_votes_in_blocks_of_rows_equal_votes_on_all_rows(monkeypatch):
    training = TrainingSet.of(Classification, FRAME, Y, None, None)
    rest = np.setdiff1d(np.arange(N_ROWS), ROWS)
    booster = committee.GradientBoostingClassifier(20, random_state=0)

    def votes():
        return member_fits.fit_fold(training, booster, None, True, ROWS, rest, True)[2]

    whole = votes()
    monkeypatch.setattr(member_fits, "MANY_VALUES", 50)
    assert len(member_fits.blocks_of(rest, 4)) == 5
    np.testing.assert_array_equal(votes(), whole)
