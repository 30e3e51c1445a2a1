"""Test dynamic selection against results of DESlib, which benchmarks/deslib_cases.py has recorded."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from committee.combining.selection.competence import METHODS, MOST_ACCURATE, MOST_DIVERSE
from committee.rules import DynamicRule

RECORDED = json.loads((Path(__file__).parent / "deslib_cases.json").read_text(encoding="utf-8"))
UNITS = {"X": 1024, "new_X": 1024, "votes": 256, "new_votes": 256}


def in_numbers(case):
    return case | {name: np.array(case[name]) / unit for name, unit in UNITS.items()}


CASES = [in_numbers(case) for case in RECORDED["cases"]]
TIED = ("mcb", "a_priori", "a_posteriori", "des_knn")
DIFFERENT = ("des_kl",)


def fitted(case, method):
    return DynamicRule(method=method, voting="hard", scale=False).fit(case["votes"], case["y"], case["X"])


def expected(case, method):
    return {name: np.array(values) for name, values in case["methods"][method].items()}


@pytest.fixture(params=CASES, ids=lambda case: f"{case['n_classes']} classes")
def case(request):
    return request.param


@pytest.mark.parametrize("method", [name for name in METHODS if name not in DIFFERENT])
def test_competences_agree_with_deslib(case, method):
    _, competence = fitted(case, method).selected(case["new_votes"], case["new_X"])
    np.testing.assert_allclose(competence, expected(case, method)["competence"], atol=2e-6)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in TIED + DIFFERENT])
def test_selected_members_and_decisions_agree_with_deslib(case, method):
    rule = fitted(case, method)
    shares, _ = rule.selected(case["new_votes"], case["new_X"])
    np.testing.assert_array_equal(shares > 0, expected(case, method)["selected"] > 0)
    decision = rule.combine(case["new_votes"], case["new_X"])
    np.testing.assert_array_equal(decision.argmax(axis=1), expected(case, method)["predicted"])


@pytest.mark.parametrize("method", ["mcb", "a_priori", "a_posteriori"])
def test_deslib_draws_one_of_the_selected_members(case, method):
    shares, _ = fitted(case, method).selected(case["new_votes"], case["new_X"])
    drawn = expected(case, method)["selected"] > 0
    assert drawn.sum(axis=1).tolist() == [1] * len(drawn)
    assert (shares[drawn] > 0).all()


def test_des_knn_differs_from_deslib_only_in_ties(case):
    rule = fitted(case, "des_knn")
    shares, accuracy = rule.selected(case["new_votes"], case["new_X"])
    n_accurate = int(MOST_ACCURATE * accuracy.shape[1])
    ranked = -np.sort(-accuracy, axis=1)
    is_clear = ranked[:, n_accurate - 1] > ranked[:, n_accurate] + 1e-9
    # All three accurate members are selected, so there are no ties in diversity.
    assert (shares > 0).sum(axis=1).tolist() == [n_accurate] * len(shares)
    assert is_clear.sum() >= 5
    np.testing.assert_array_equal((shares > 0)[is_clear], expected(case, "des_knn")["selected"][is_clear] > 0)


def test_des_knn_selects_the_same_diverse_members_as_deslib():
    case = in_numbers(RECORDED["many_members"])
    rule = fitted(case, "des_knn")
    shares, accuracy = rule.selected(case["new_votes"], case["new_X"])
    np.testing.assert_allclose(accuracy, expected(case, "des_knn")["competence"], atol=2e-6)
    n_members = accuracy.shape[1]
    n_accurate, n_diverse = int(MOST_ACCURATE * n_members), int(MOST_DIVERSE * n_members)
    assert (shares > 0).sum(axis=1).tolist() == [n_diverse] * len(shares)
    wrong = case["votes"].argmax(axis=2) != case["y"]
    nearest = np.linalg.norm(case["new_X"][:, None] - case["X"], axis=2).argsort(axis=1)[:, :7]
    n_clear = 0
    for row, neighbours in enumerate(nearest):
        order = np.argsort(-accuracy[row], kind="stable")
        accurate, next_one = order[:n_accurate], order[n_accurate]
        together = (wrong[:, None, neighbours] & wrong[None, :, neighbours]).sum(axis=2)
        np.fill_diagonal(together, 0)
        errors = np.sort(together.sum(axis=1)[accurate])
        is_clear = accuracy[row, accurate[-1]] > accuracy[row, next_one] + 1e-9
        if is_clear and errors[n_diverse - 1] < errors[n_diverse]:
            n_clear += 1
            of_deslib = np.flatnonzero(expected(case, "des_knn")["selected"][row])
            assert np.flatnonzero(shares[row]).tolist() == of_deslib.tolist()
    assert n_clear >= 4


def test_des_kl_differs_from_deslib_only_in_the_sign_of_the_entropy_of_correct_votes(case):
    rule = fitted(case, "des_kl")
    known = rule._known
    reversed_entropy = np.where(known.correct, 2 - known.source, known.source)
    rule._known = dataclasses.replace(known, source=reversed_entropy)
    _, competence = rule.selected(case["new_votes"], case["new_X"])
    np.testing.assert_allclose(competence, expected(case, "des_kl")["competence"], atol=1e-8)
