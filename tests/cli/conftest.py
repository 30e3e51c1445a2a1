"""Fixtures for tests of the command line: a folder with a table, a model, and a way to run commands."""

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from committee import DecisionTreeClassifier, VotingClassifier
from committee.cli.main import run
from committee.saving import Origin

N_ROWS = 60


@dataclass
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    def complains(self, code, *words):
        """Check for an exit code, one line with some words on stderr, and nothing on stdout."""
        assert self.code == code, self
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("committee: "), self.err
        for word in words:
            assert word in lines[0]


def flowers():
    """Return a table of two classes, with row numbers, a number and a category that determine the class."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=N_ROWS).round(3)
    colour = np.array(["red", "blue", "white"])[np.arange(N_ROWS) % 3]
    kind = np.where(size + (colour == "red") > 0.3, "rose", "lily")
    return pa.table(
        {"row": list(range(1, N_ROWS + 1)), "size": size, "colour": colour.tolist(), "kind": kind.tolist()}
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(flowers(), tmp_path / "flowers.csv")
    return tmp_path


@pytest.fixture
def model(folder):
    table = flowers()
    members = [("tree", DecisionTreeClassifier(max_depth=3)), ("stump", DecisionTreeClassifier(max_depth=1))]
    voting = VotingClassifier(members, cv=5, keep="all", random_state=0)
    voting.fit(table.select(["size", "colour"]), table["kind"].to_numpy())
    voting._origin = Origin("kind", ("row",))
    voting.save(folder / "flowers.committee")
    return "flowers.committee"


@pytest.fixture
def committee(folder, capfd):
    def call(*arguments):
        capfd.readouterr()
        code = run(list(arguments))
        out, err = capfd.readouterr()
        return Ended(code, out, err)

    return call
