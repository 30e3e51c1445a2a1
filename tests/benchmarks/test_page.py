"""The benchmark page describes how it is made."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_make_bench_runs_every_benchmark_without_external_tables(path):
    command = json.loads(path.read_text(encoding="utf-8"))["rerun"].split(",")[0]
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert (command.removeprefix("python ") in recipe) == ("--data" not in command)


def test_the_page_begins_as_the_report_writes_it():
    source = (ROOT / "benchmarks" / "report.py").read_text(encoding="utf-8")
    head = source.split('HEAD = """')[1].split('"""')[0]
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert page.startswith(head)
    assert "every benchmark that needs no other tables" in head
