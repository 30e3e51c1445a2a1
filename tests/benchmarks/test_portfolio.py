"""The portfolio of the automatic committee has the order measured by its benchmark."""

import json
from pathlib import Path

import pytest

from committee.automatic.portfolio import CANDIDATES, ORDERS

RESULT = Path(__file__).parents[2] / "benchmarks" / "results" / "portfolio.json"


@pytest.mark.parametrize("task", ORDERS)
def test_members_are_in_the_measured_order(task):
    cases = json.loads(RESULT.read_text(encoding="utf-8"))["cases"]
    found = [case["name"].split(": ")[1] for case in cases if case["name"].startswith(task)]
    assert list(ORDERS[task]) == [name for name in found if name in CANDIDATES]
