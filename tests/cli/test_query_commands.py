"""Test the commands that use a saved model."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import committee as package
from committee import RandomForestRegressor
from committee.assembling import Leaderboard, Standing
from committee.cli.console import show_board


def test_predict_prints_a_line_for_each_row(committee, model):
    ended = committee("predict", model, "flowers.csv")
    lines = ended.out.splitlines()
    assert ended.code == 0 and ended.err == ""
    assert lines[0] == '"prediction"'
    assert len(lines) == 61 and set(lines[1:]) == {'"rose"', '"lily"'}


def test_predictions_are_the_same_as_in_python(committee, model, folder):
    ended = committee("predict", model, "flowers.csv", "--json")
    printed = [json.loads(line)["prediction"] for line in ended.out.splitlines()]
    table = pa.csv.read_csv(folder / "flowers.csv").select(["size", "colour"])
    assert printed == package.load(model).predict(table).tolist()


def test_probabilities_and_votes_are_added_to_the_prediction(committee, model):
    ended = committee("predict", model, "flowers.csv", "--proba", "--votes", "--json")
    first = json.loads(ended.out.splitlines()[0])
    assert list(first) == [
        "prediction", "probability_lily", "probability_rose", "vote_tree_lily", "vote_tree_rose",
        "vote_stump_lily", "vote_stump_rose",
    ]  # fmt: skip
    assert first["probability_lily"] + first["probability_rose"] == pytest.approx(1)


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.jsonl.gz", "p.feather"])
def test_predictions_go_to_a_file_of_any_format(committee, model, folder, name):
    from committee.files import read_table

    ended = committee("predict", model, "flowers.csv", "--out", name)
    assert ended.code == 0 and ended.out == ""
    assert read_table(folder / name, labels=["prediction"]).frame.num_rows == 60


def test_tables_show_positive_losses_and_json_has_the_sign_of_scikit_learn(committee, model):
    asked = ("leaderboard", model, "--rule", "mean", "--scoring", "neg_log_loss")
    found, table = committee(*asked, "--json").json, committee(*asked).out
    assert found["scoring"] == "neg_log_loss" and all(each["score"] < 0 for each in found["standings"])
    assert "log loss" in table and "neg" not in table and "-0" not in table
    scores = committee("evaluate", model, "flowers.csv", "--json").json["scores"]
    assert scores["neg_log_loss"] <= 0 and "log loss" in committee("evaluate", model, "flowers.csv").out


def test_predict_prints_the_output_file_as_json(committee, model):
    ended = committee("predict", model, "flowers.csv", "--out", "p.csv", "--json")
    assert ended.json == {"out": "p.csv", "n_rows": 60, "columns": ["prediction"], "unseen": []}


def test_the_table_or_the_model_may_come_from_the_standard_input(committee, model, folder, monkeypatch):
    expected = committee("predict", model, "flowers.csv").out
    for name, arguments in (("flowers.csv", [model, "-"]), (model, ["-", "flowers.csv"])):
        content = (folder / name).read_bytes()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert committee("predict", *arguments).out == expected
    committee("predict", "-", "-").complains(2, "Only one of MODEL and TABLE")


def test_a_missing_column_is_an_error_that_names_it(committee, model, folder):
    (folder / "new.csv").write_text("size,color\n1,red\n")
    committee("predict", model, "new.csv").complains(3, "no column 'colour' in new.csv", "'color'")


def test_an_extra_column_is_an_error_unless_it_is_ignored(committee, model, folder):
    (folder / "new.csv").write_text("size,colour,smell\n1,red,sweet\n")
    committee("predict", model, "new.csv").complains(3, "not in the training table: smell", "--ignore-extra")
    assert committee("predict", model, "new.csv", "--ignore-extra").code == 0


def test_a_value_of_another_kind_is_an_error_that_names_its_row(committee, model, folder):
    (folder / "new.csv").write_text("size,colour\n1,red\nbig,red\n")
    committee("predict", model, "new.csv").complains(3, "'size' should be a number, but row 2 contains 'big'")


def test_numbers_in_a_column_of_categories_are_categories(committee, model, folder):
    (folder / "new.csv").write_text("size,colour\n1,7\n2,8\n")
    assert committee("predict", model, "new.csv").code == 0


def test_an_unknown_suffix_of_the_output_is_refused(committee, model, folder):
    committee("predict", model, "flowers.csv", "--out", "p.xlsx").complains(3, "p.xlsx cannot be written")
    committee("predict", model, "flowers.csv", "--out", "no/p.csv").complains(5, "no folder")
    assert not (folder / "p.xlsx").exists()


def test_evaluate_scores_the_target_of_the_fit(committee, model):
    ended = committee("evaluate", model, "flowers.csv", "--json")
    assert ended.json["target"] == "kind" and ended.json["n_rows"] == 60
    assert set(ended.json["scores"]) == {
        "accuracy",
        "balanced_accuracy",
        "neg_log_loss",
        "roc_auc",
    }
    assert "accuracy" in committee("evaluate", model, "flowers.csv").out


def test_evaluate_counts_rows_without_a_target(committee, model, folder):
    (folder / "new.csv").write_text("size,colour,kind\n3,red,rose\n-3,red,\n-3,blue,lily\n")
    found = committee("evaluate", model, "new.csv", "--json").json
    assert (found["n_rows"], found["n_dropped"]) == (2, 1)
    assert "1 without a value" in committee("evaluate", model, "new.csv").out


def test_evaluate_scores_rows_of_a_single_class(committee, model, folder):
    (folder / "new.csv").write_text("size,colour,kind\n3,red,rose\n2,red,rose\n")
    assert committee("evaluate", model, "new.csv", "--json").json["scores"] == {
        "accuracy": 1.0,
        "neg_log_loss": 0.0,
    }


@pytest.mark.parametrize("metric", ["roc_auc_ovr_weighted", "f1_macro", "neg_log_loss", "roc_auc"])
def test_evaluate_accepts_a_metric(committee, model, metric):
    assert list(
        committee("evaluate", model, "flowers.csv", "--scoring", metric, "--json").json["scores"]
    ) == [metric]


def test_evaluate_refuses_unknown_columns_metrics_and_classes(committee, model, folder):
    committee("evaluate", model, "flowers.csv", "--target", "knid").complains(3, "Did you mean 'kind'")
    committee("evaluate", model, "flowers.csv", "--scoring", "acuracy").complains(
        3, "Near ones are 'accuracy'"
    )
    (folder / "new.csv").write_text("size,colour,kind\n3,red,tulip\n")
    committee("evaluate", model, "new.csv").complains(3, "'tulip', which is not a class")
    (folder / "new.csv").write_text("size,colour,kind\n3,red,\n")
    committee("evaluate", model, "new.csv").complains(3, "'kind' has no value in any row")


def test_leaderboard_scores_members_and_rules(committee, model):
    found = committee("leaderboard", model, "--rule", "mean,cawpe", "--json").json
    names = [each["name"] for each in found["standings"]]
    assert names[0] == "mean" and names[-1] == "class_shares"
    assert set(names[1:-1]) == {"tree", "stump", "mean", "cawpe"}
    assert "cawpe" in committee("leaderboard", model, "--rule", "mean", "--rule", "cawpe").out


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "neg_brier_score"])
def test_leaderboard_gives_the_same_scores_as_score(committee, model, folder, metric):
    found = committee("leaderboard", model, "--rule", "mean", "--scoring", metric, "--json").json
    asked = package.load(model)
    answers = pa.csv.read_csv(folder / "flowers.csv")["kind"].to_numpy()[asked.honest_rows_]
    votes = {"mean": asked.honest_votes_.mean(axis=0)}
    votes |= dict(zip(asked.named_estimators_, asked.honest_votes_, strict=True))
    expected = {
        name: package.score(answers, each, scoring=metric, classes=asked.classes_)
        for name, each in votes.items()
    }
    assert found["scoring"] == metric
    committee_row, *rows, baseline = found["standings"]
    assert {each["name"]: each["score"] for each in rows} == pytest.approx(expected)
    scores = [each["score"] for each in rows]
    assert scores == sorted(scores, reverse=True)
    assert committee_row["score"] == pytest.approx(expected["mean"]) and baseline["kind"] == "baseline"


def test_rules_that_look_at_the_rows_are_refused_by_leaderboard(committee, model):
    committee("leaderboard", model, "--rule", "mean,dynamic").complains(3, "'dynamic' uses the columns of X")


def test_inspect_shows_the_contents_of_a_model(committee, model):
    found = committee("inspect", model, "--json").json
    assert found["estimator"] == "committee.VotingClassifier"
    assert found["target"] == "kind" and found["left_out"] == ["row"]
    assert found["classes"] == ["lily", "rose"] and found["rule"] == "mean"
    assert [member["name"] for member in found["members"]] == ["tree", "stump"]
    assert found["columns"][1] == {"name": "colour", "kind": "category", "n_categories": 3}
    assert "lily, rose" in committee("inspect", model).out


def test_verify_accepts_an_intact_model(committee, model):
    assert "is sound" in committee("verify", model).out
    assert committee("verify", model, "--json").json["is_fitted"] is True


def test_a_damaged_model_has_its_own_exit_code(committee, model, folder):
    content = bytearray((folder / model).read_bytes())
    content[-3] ^= 1
    (folder / "damaged.committee").write_bytes(content)
    for command in ("verify", "inspect", "leaderboard"):
        committee(command, "damaged.committee").complains(4)
    committee("predict", "damaged.committee", "flowers.csv").complains(4)
    committee("verify", "flowers.csv").complains(4, "flowers.csv is not a file of committee")
    committee("verify", "nothing.committee").complains(5, "nothing.committee")


def test_a_member_of_another_library_needs_trust(committee, folder):
    from sklearn.cross_decomposition import PLSRegression

    pytest.importorskip("skops")
    rows = [[float(i), float(i * i % 7)] for i in range(12)]
    table = pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
    voting = package.VotingRegressor([("pls", PLSRegression(1))]).fit(table, [a + b for a, b in rows])
    voting.save(folder / "foreign.committee")
    pa.csv.write_csv(table, folder / "rows.csv")
    asked = ("predict", "foreign.committee", "rows.csv")
    committee(*asked).complains(4, "If you trust who wrote the file", "--trust")
    assert committee(*asked, "--trust", "sklearn").code == 0


def test_a_model_that_is_not_fitted_is_refused(committee, folder):
    package.DecisionTreeClassifier().save(folder / "unfitted.committee")
    committee("predict", "unfitted.committee", "flowers.csv").complains(4, "is not fitted")


def test_commands_accept_a_regressor(committee, folder):
    rows = [[float(i), float(i % 3)] for i in range(30)]
    RandomForestRegressor(5, random_state=0).fit(rows, [2.0 * a for a, _ in rows]).save(
        folder / "f.committee"
    )
    (folder / "n.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{2 * a}\n" for a, b in rows))
    committee("predict", "f.committee", "n.csv").complains(3, "has 3 columns", "fitted on 2")
    found = committee("evaluate", "f.committee", "n.csv", "--target", "y", "--json").json
    assert (
        set(found["scores"]) == {"neg_root_mean_squared_error", "neg_mean_absolute_error", "r2"}
        and found["scores"]["r2"] > 0.8
    )
    (folder / "x.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
    committee("predict", "f.committee", "x.csv", "--proba").complains(3, "no probabilities")
    committee("predict", "f.committee", "x.csv", "--votes").complains(3, "no members that vote")
    committee("leaderboard", "f.committee").complains(3, "is not a committee")


def test_predict_reads_a_compressed_table(committee, model, folder):
    (folder / "flowers.csv.gz").write_bytes(gzip.compress((folder / "flowers.csv").read_bytes()))
    expected = committee("predict", model, "flowers.csv").out
    assert committee("predict", model, "flowers.csv.gz").out == expected


def test_all_missing_columns_are_named(committee, folder, model):
    (folder / "t.csv").write_text("row,weight\n1,2\n")
    committee("predict", model, "t.csv").complains(
        3, "There are no columns 'size', 'colour' in t.csv. It has row, weight."
    )


def test_columns_may_have_another_name(committee, folder, model):
    text = (folder / "flowers.csv").read_text().replace("size", "Size", 1)
    (folder / "t.csv").write_text(text)
    committee("predict", model, "t.csv").complains(3, "Did you mean 'Size'? If so, pass --rename size=Size.")
    expected = committee("predict", model, "flowers.csv").out
    assert committee("predict", model, "t.csv", "--rename", "size=Size").out == expected
    assert committee("evaluate", model, "t.csv", "--rename", "size=Size").code == 0
    committee("predict", model, "t.csv", "--rename", "size").complains(2, "FITTED=NAME")


def test_inspect_lists_important_columns(committee, folder):
    fit = ("fit", "flowers.csv", "--target", "kind", "--estimators", "c45", "--out", "one.committee")
    assert committee(*fit).code == 0
    found = committee("inspect", "one.committee", "--json").json["importances"]
    expected = package.load(folder / "one.committee").feature_importances_
    assert sorted(found.values()) == pytest.approx(sorted(expected))
    assert next(iter(found.values())) == max(expected)
    assert "importances of columns: " in committee("inspect", "one.committee").out


def test_another_threshold_is_compared_on_honest_votes(committee, folder):
    fit = ("fit", "flowers.csv", "--target", "kind", "--estimators", "c45", "--out", "one.committee")
    assert committee(*fit).code == 0
    loaded = package.load(folder / "one.committee")
    table = pa.csv.read_csv(folder / "flowers.csv").select(["size", "colour"])
    expected = np.where(loaded.predict_proba(table)[:, 1] >= 0.01, "rose", "lily").tolist()
    ended = committee("predict", "one.committee", "flowers.csv", "--threshold", "0.01", "--json")
    assert [json.loads(line)["prediction"] for line in ended.out.splitlines()] == expected
    assert "Threshold 0.01: 'rose' has recall" in ended.err and "with the threshold of the fit" in ended.err
    options = ("--threshold", "0.01", "--confusion", "--json")
    ended = committee("evaluate", "one.committee", "flowers.csv", *options)
    assert sum(row[1] for row in ended.json["confusion"]["counts"]) == expected.count("rose")
    RandomForestRegressor(n_estimators=2).fit(np.eye(3), [1.0, 2.0, 3.0]).save(folder / "forest.committee")
    ended = committee("predict", "forest.committee", "flowers.csv", "--threshold", "0.5")
    ended.complains(3, "RandomForestRegressor has no threshold")


def test_inspect_shows_the_aggregates_of_a_fit(committee, folder):
    fit = ("fit", "flowers.csv", "--target", "kind", "--estimators", "c45", "--out", "one.committee")
    assert committee(*fit).code == 0
    found = committee("inspect", "one.committee", "--json").json["summary"]
    assert np.sum(found["confusion"]) == found["n_rows"] == found["n_scores"] == 60
    assert {each["name"] for each in found["columns"]} == {"size", "colour"}
    committee("leaderboard", "one.committee", "--rule", "mean").complains(3, "Omit --rule", "--keep all")
    shown = committee("inspect", "one.committee").out
    assert "aggregates of 60 of these rows: 60 conformity scores" in shown and "association" in shown


def test_a_narrow_terminal_does_not_show_the_last_columns_of_a_leaderboard(capsys, monkeypatch):
    rows = [
        Standing("committee", "mean", 0.8, low=0.7, high=0.9),
        Standing("member", "tree", 0.75, n_models=5),
    ]
    board = Leaderboard(rows, "accuracy")
    show_board(board)
    whole = capsys.readouterr().out.splitlines()
    assert whole[0].split()[-1] == "models" and not any(line.endswith(" ") for line in whole)
    monkeypatch.setattr("committee.cli.console.columns_of", lambda stream: 30)
    show_board(board)
    narrow = capsys.readouterr().out.splitlines()
    assert max(map(len, narrow)) <= 30 and narrow[0].split() == ["accuracy"]
    assert all(long.startswith(short) for long, short in zip(whole, narrow, strict=True))


@pytest.fixture
def recorded(committee, folder):
    """Fit a committee to all rows, without the column that counts the rows."""
    rows = (folder / "flowers.csv").read_text().splitlines()
    fit = ("fit", "flowers.csv", "--target", "kind", "--estimators", "c45", "--folds", "2", "--quiet")
    assert committee(*fit).code == 0
    return rows


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (lambda header, rows: [header, *rows], "The rows of the fit are in this table"),
        (lambda header, rows: [header, *reversed(rows)], "The rows of the fit are in this table"),
        (lambda header, rows: [header, *rows[:30]], "% of the rows of the fit are in this table"),
    ],
    ids=["all", "another order", "a half"],
)
def test_evaluate_recognises_rows_of_the_fit(committee, folder, recorded, part, words):
    (folder / "part.csv").write_text("\n".join(part(recorded[0], recorded[1:])) + "\n")
    ended = committee("evaluate", "model.committee", "part.csv")
    assert ended.code == 0 and words in ended.err and "scores are too good" in ended.err
    share = committee("evaluate", "model.committee", "part.csv", "--json").json["share_of_fit"]
    assert share == 1 or (part(0, [*range(60)])[-1] == 29 and 0.3 < share < 0.7)


def test_evaluate_says_nothing_about_other_rows(committee, folder, recorded):
    rng = np.random.default_rng(1)
    lines = [f"{i},{rng.normal():.6f},red,{'rose' if i % 2 else 'lily'}" for i in range(60)]
    (folder / "new.csv").write_text("\n".join([recorded[0], *lines]) + "\n")
    ended = committee("evaluate", "model.committee", "new.csv")
    assert ended.code == 0 and "rows of the fit" not in ended.err


def test_evaluate_shows_intervals_and_confusions_on_demand(committee, model):
    plain = committee("evaluate", model, "flowers.csv", "--json").json
    assert not {"intervals", "confusion", "classes"} & plain.keys()
    found = committee("evaluate", model, "flowers.csv", "--confusion", "--intervals", "--json").json
    assert found["scores"] == plain["scores"]
    low, high = found["intervals"]["accuracy"]
    assert low <= found["scores"]["accuracy"] <= high
    assert sum(map(sum, found["confusion"]["counts"])) == 60
    assert [each["class"] for each in found["classes"]] == ["lily", "rose"]
    printed = committee("evaluate", model, "flowers.csv", "--confusion", "--intervals").out
    assert "95 % interval" in printed and "true \\ predicted  lily  rose" in printed


def test_columns_are_kept_before_the_predictions(committee, model):
    lines = committee(
        "predict", model, "flowers.csv", "--keep", "row,colour", "--keep", "size"
    ).out.splitlines()
    assert lines[0] == '"row","colour","size","prediction"'
    assert [line.split(",")[0] for line in lines[1:4]] == ['"1"', '"2"', '"3"']
    every = committee("predict", model, "flowers.csv", "--keep", "all", "--json").out.splitlines()
    assert list(json.loads(every[0])) == ["row", "size", "colour", "kind", "prediction"]


def test_unseen_values_are_reported(committee, folder):
    assert (
        committee("fit", "flowers.csv", "--target", "kind", "--estimators", "c45", "--folds", "2").code == 0
    )
    (folder / "new.csv").write_text("size,colour,kind\n0,green,lily\n99,green,rose\n0,red,rose\n")
    for command in ("predict", "evaluate"):
        ended = committee(command, "model.committee", "new.csv")
        assert ended.code == 0
        assert ended.err.splitlines() == [
            "committee: colour: 2 of 3 values were not seen by the fit, such as 'green', which is treated as "
            "missing.",
            "Values that were not seen by the fit: size 1 of 3.",
        ]
    found = committee("evaluate", "model.committee", "new.csv", "--json").json
    assert [each["column"] for each in found["unseen"]] == ["size", "colour"]


def test_inspect_names_the_parts_with_training_rows(committee, model):
    assert "training rows in the file: in the honest votes\n" in committee("inspect", model).out
    assert committee("inspect", model, "--json").json["stored_rows"]["parts"] == ["the honest votes"]
    fit = ("fit", "flowers.csv", "--target", "kind", "--rule", "mean", "--quiet", "--estimators")
    for members, shown in (("c45", "none"), ("c45,neighbours", "in neighbours")):
        committee(*fit, members, "--out", "m.committee")
        assert f"training rows in the file: {shown}\n" in committee("inspect", "m.committee").out
