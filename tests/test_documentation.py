"""The pages list every public name, and every example has a title."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import committee

ROOT = Path(__file__).parents[1]
PLACES = (committee, committee.rules, committee.diversity, committee.pictures, committee.reporting)


def names_of_the_reference():
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    blocks = re.findall(r"\.\. currentmodule:: (\S+)\n(.*?)```", page, re.DOTALL)
    return Counter(
        f"{module}.{name}" for module, block in blocks for name in re.findall(r"^   (\w\S*)$", block, re.M)
    )


def test_the_reference_lists_every_public_name_once():
    listed = names_of_the_reference()
    public = {f"{place.__name__}.{name}" for place in PLACES for name in place.__all__}
    assert public - {"committee.diversity", "committee.rules"} <= set(listed)
    assert set(listed.values()) == {1}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_begins_with_a_title(path):
    lines = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()
    assert len(lines) > 2
    assert lines[1] == "=" * len(lines[0])
