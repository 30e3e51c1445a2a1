"""Test that no command overwrites its inputs, under any of their names."""

import os
import re

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


def test_a_file_of_another_kind_is_replaced_only_by_force(committee, model, folder):
    for name, content in (("notes.csv", "old"), ("table.csv", "size,colour\n1,red\n")):
        (folder / name).write_text(content)
        committee(*PREDICT, name).complains(5, f"{name} exists and does not contain predictions", "--force")
        committee(*FIT, name).complains(5, f"{name} exists and does not contain a model", "--force")
        assert (folder / name).read_text() == content
        assert committee(*PREDICT, name, "--force").code == 0
        assert (folder / name).read_text().startswith('"prediction"')


def test_predictions_and_empty_files_are_replaced(committee, model, folder):
    (folder / "p.csv").write_text("")
    for name in ("p.csv", "p.parquet", "p.arrow", "p.jsonl"):
        for _ in range(2):
            assert committee(*PREDICT, name).code == 0


def test_a_model_that_is_replaced_is_named(committee, folder):
    fit = (*FIT, "m.committee", "--folds", "2", "--quiet")
    assert committee(*fit).err == ""
    replaced = committee(*fit).err
    assert re.fullmatch(r"m.committee replaces the model of \d\d:\d\d, \d+\.\d kB\.\n", replaced)
    assert committee(*fit, "--force").err == ""
    old = (folder / "m.committee").read_bytes()
    (folder / "m.committee").write_bytes(old[:100])
    committee(*fit).complains(5, "does not contain a model")


def test_the_input_itself_is_not_replaced_even_by_force(committee, model, folder):
    committee(*PREDICT, "flowers.csv", "--force").complains(3, "is the input flowers.csv itself")
