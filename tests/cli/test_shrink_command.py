"""Test the command that shows and writes smaller versions of a committee."""

import os
import re

import pyarrow as pa
import pytest

import committee as package

FIT = (
    "fit",
    "flowers.csv",
    "--target",
    "kind",
    "--estimators",
    "c45,linear,bayes",
    "--rule",
    "mean",
    "--quiet",
)


@pytest.fixture
def default(committee):
    """Return a file without honest votes."""
    assert committee(*FIT, "--out", "default.committee").code == 0
    return "default.committee"


@pytest.fixture
def whole(committee):
    """Return a file with honest votes and the models of all folds."""
    assert committee(*FIT, "--keep", "all", "--folds", "3", "--out", "whole.committee").code == 0
    return "whole.committee"


def test_without_a_choice_the_versions_and_their_commands_are_shown(committee, whole, folder):
    before = sorted(folder.iterdir())
    ended = committee("shrink", whole, "flowers.csv")
    assert ended.code == 0
    header, *lines = ended.out.splitlines()
    assert header.split() == ["members", "models", "size", "one", "row", "log", "loss", "difference"]
    assert lines[0].startswith("as it is") and any(each.startswith("distil to one booster") for each in lines)
    assert "One row: the median time of committee.predictor" in ended.out
    assert "measured on 60 rows of the fit" in ended.out
    commands = [each.split()[1:] for each in lines if each.startswith("  committee shrink")]
    assert len(commands) == sum(each.startswith(("prune", "refit", "distil")) for each in lines)
    assert sorted(folder.iterdir()) == before
    for number, command in enumerate(commands):
        label = [each for each in lines if each.startswith(("prune", "refit", "distil"))][number]
        assert f"Chosen: {label.split('  ')[0]}." in committee(*command).out


def test_a_version_within_the_limits_is_written(committee, whole, folder):
    found = committee("shrink", whole, "--json").json
    largest, smallest = (pick(each["n_bytes"] for each in found["versions"]) for pick in (max, min))
    assert smallest < largest
    ended = committee("shrink", whole, "--max-size", f"{smallest + 50}b", "--out", "small.committee")
    assert "Chosen: prune to 1 member." in ended.out and "The model is in small.committee" in ended.out
    small = package.load(folder / "small.committee")
    assert len(small.estimators_) == 1 and not hasattr(small, "honest_votes_")
    assert (folder / "small.committee").stat().st_size <= smallest + 50
    assert committee("evaluate", "small.committee", "flowers.csv").code == 0
    ended = committee("shrink", whole, "--max-latency", "1h", "--max-members", "1", "--quiet")
    assert re.fullmatch(r"The model is in small.committee \(.*\).\n", ended.out)


def test_if_no_version_keeps_the_limits_nothing_is_written(committee, whole, folder):
    committee("shrink", whole, "--max-size", "10b").complains(
        3, "The smallest, prune to", "kB", "ms for a row"
    )
    assert not (folder / "small.committee").exists()


def test_a_student_of_a_default_file_is_a_model_for_the_same_target(committee, default, folder):
    ended = committee(
        "shrink", default, "flowers.csv", "--method", "distil", "--out", "student.committee", "--json"
    )
    assert ended.json["chosen"]["method"] == "distil" and ended.json["chosen"]["score"] < 0
    assert (
        committee("evaluate", "student.committee", "flowers.csv", "--json").json["scores"]["accuracy"] > 0.7
    )
    pa.csv.write_csv(pa.csv.read_csv("flowers.csv").drop_columns(["kind"]), folder / "new.csv")
    versions = committee("shrink", default, "new.csv", "--json").json["versions"]
    assert [each["method"] for each in versions] == ["as it is", "distil"] and versions[1]["score"] is None


def test_what_a_file_does_not_have_is_named(committee, default, model):
    out = committee("shrink", default).out
    assert out.splitlines()[1].startswith("as it is")
    for words in ("fit with keep='all'", "refit changes nothing", "distil needs a table"):
        assert words in out
    committee("shrink", default, "--method", "prune").complains(3, "There is no version to prune")
    ended = committee("shrink", default, "--max-size", "10b")
    ended.complains(3, "The smallest, as it is, has", "Pass the table of the fit")
    committee("shrink", model).complains(3, "VotingClassifier", "only committees of `committee fit`")


def test_the_table_of_the_fit_is_recognised_with_its_weights_and_groups(committee, folder):
    table = pa.csv.read_csv("flowers.csv")
    table = table.append_column("weight", pa.array([1.0, 2.0, 3.0] * 20))
    pa.csv.write_csv(table, folder / "weighted.csv")
    fit = (
        "--target",
        "kind",
        "--weights",
        "weight",
        "--groups",
        "row",
        "--estimators",
        "c45,linear",
        "--quiet",
    )
    assert committee("fit", "weighted.csv", *fit, "--out", "w.committee").code == 0
    found = committee("shrink", "w.committee", "weighted.csv", "--json").json
    assert "of the fit" in found["measured_on"]
    pa.csv.write_csv(table.drop_columns(["weight"]), folder / "without.csv")
    committee("shrink", "w.committee", "without.csv").complains(3, "About 100 % of the rows of the fit")


def test_files_are_not_replaced_by_accident(committee, whole, folder):
    os.link(whole, "link.committee")
    for out in (whole, "link.committee"):
        committee("shrink", whole, "--max-members", "1", "--out", out).complains(
            3, "is the model itself", "--force"
        )
    for force in ((), ("--force",)):
        ended = committee(
            "shrink", whole, "flowers.csv", "--max-members", "1", "--out", "flowers.csv", *force
        )
        ended.complains(3, "is the input flowers.csv itself")
    assert len(package.load(whole).estimators_) == 3
    assert committee("shrink", whole, "--max-members", "1", "--out", whole, "--force").code == 0
    assert len(package.load(whole).estimators_) == 1


def test_wrong_options_are_reported_before_the_model_is_read(committee, folder):
    (folder / "no.committee").write_text("no model")
    committee("shrink", "no.committee", "--out", "m.committee").complains(2, "--out needs a choice")
    committee("shrink", "no.committee", "--max-size", "big").complains(3, "memory or size", "'big'")
    committee("shrink", "no.committee", "no.csv").complains(5, "There is no file no.csv")
    committee("shrink", "-", "-").complains(2, "Only one of MODEL and TABLE")
    committee("shrink", "no.committee").complains(4, "not a file of committee")
