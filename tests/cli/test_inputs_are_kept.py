"""Test that no command overwrites its inputs, under any of their names."""

import os

import pytest

FIT = ("fit", "flowers.csv", "--target", "kind", "--estimators", "c45", "--out")
PREDICT = ("predict", "flowers.committee", "flowers.csv", "--out")


@pytest.fixture
def names(folder, model):
    """Return names of the table: its own, another path, a symbolic link and a hard link."""
    os.symlink("flowers.csv", folder / "symbolic.csv")
    os.link(folder / "flowers.csv", folder / "hard.csv")
    return ["flowers.csv", f"../{folder.name}/flowers.csv", "symbolic.csv", "hard.csv"]


@pytest.mark.parametrize("command", [FIT, PREDICT], ids=["fit", "predict"])
def test_the_table_is_not_replaced(committee, names, folder, command):
    before = (folder / "flowers.csv").read_bytes()
    for name in names:
        committee(*command, name).complains(3, name, "is the input flowers.csv itself")
    assert (folder / "flowers.csv").read_bytes() == before


def test_the_model_is_not_replaced_by_its_predictions(committee, model, folder):
    os.link(folder / model, folder / "model.csv")
    committee("predict", model, "flowers.csv", "--out", "model.csv").complains(3, model, "itself")


def test_a_table_on_the_standard_input_is_not_replaced(committee, model, folder, monkeypatch):
    with open("flowers.csv") as table:
        monkeypatch.setattr("sys.stdin", table)
        committee("predict", model, "-", "--out", "flowers.csv").complains(
            3, "flowers.csv", "standard input itself"
        )


def test_another_file_is_replaced(committee, model, folder):
    (folder / "old.csv").write_text("old")
    assert committee(*PREDICT, "old.csv").code == 0
    assert (folder / "old.csv").read_text() != "old"
