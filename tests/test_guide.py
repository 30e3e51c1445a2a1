"""The examples of the guide give the results that its pages show."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "guide").rglob("*.md"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_examples_of_a_page_give_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = re.sub(r"^```.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(source, {"__name__": "__main__"}, path.stem, str(path), 0)
    failures = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(examples, out=failures.append)
    assert result.failed == 0, "".join(failures)
