"""Test `committee.fit` on files and frames."""

import decimal
import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import committee
from committee.files import BadTable
from committee.jobs import evaluate, predict
from committee.jobs.training_table import read_training_table
from committee.saving import Origin

N_ROWS = 60
FAST = {"estimators": ["linear", "c45"], "cv": 2, "random_state": 0}


def columns():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N_ROWS)
    colour = np.array(["red", "blue", "white"])[np.arange(N_ROWS) % 3].tolist()
    return {"size": size, "colour": colour, "kind": np.where(size > 0.3, "rose", "lily").tolist()}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "Arrow"])
def test_any_frame_gives_the_same_model(frame):
    table = frame(columns())
    model = committee.fit(table, "kind", **FAST)
    known = committee.fit(pa.table(columns()), "kind", **FAST)
    X = pa.table(columns()).select(["size", "colour"])
    assert np.array_equal(model.predict_proba(X), known.predict_proba(X))


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["white", "red", "blue"])], ids=str)
def test_categories_of_polars_are_categories(dtype):
    frame = pl.DataFrame(columns()).with_columns(pl.col("colour").cast(dtype))
    training = read_training_table(frame, "kind", None, None, None, None)
    assert [each.kind.value for each in training.guesses] == ["number", "category"]
    assert training.X["colour"].to_pylist() == columns()["colour"]


def test_recombine_keeps_the_description_of_the_table_and_the_target():
    model = committee.fit(pd.DataFrame(columns()), "kind", **FAST)
    assert model._data.n_rows == N_ROWS
    another = model.recombine("mean")
    assert another._origin == model._origin and another._data == model._data


def test_another_fit_removes_the_name_of_the_target():
    model = committee.fit(pd.DataFrame(columns()), "kind", **FAST)
    model.fit([[size] for size in columns()["size"]], columns()["colour"])
    assert model._origin is None


def test_a_frame_is_not_changed():
    frame = pd.DataFrame(columns())
    before = frame.copy()
    committee.fit(frame, "kind", **FAST)
    pd.testing.assert_frame_equal(frame, before)


def test_rows_and_columns_that_are_left_out_give_warnings():
    frame = pl.DataFrame(columns()).with_columns(
        patient_id=pl.Series(range(100, 100 + N_ROWS)),
        note=pl.Series([f"the {i}th of all these words" for i in range(N_ROWS)]),
        kind=pl.Series([None, *columns()["kind"][1:]]),
    )
    with pytest.warns(UserWarning) as warned:
        model = committee.fit(frame, "kind", **FAST)
    assert [str(each.message) for each in warned] == [
        "1 row is left out: no value of 'kind'.",
        "Column 'patient_id' is left out: a different number in every row. To keep it, give it a type: "
        "patient_id=number.",
        "Column 'note' is left out: prose, different in most rows.",
    ]
    assert model.schema_.names == ("size", "colour")
    assert model._origin.left_out == ("patient_id", "note")


@pytest.mark.parametrize("name", [None, "date"])
def test_the_index_of_a_frame_is_left_out(name):
    frame = pd.DataFrame(columns(), index=pd.date_range("2024-01-01", periods=N_ROWS, name=name))[::-1]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = committee.fit(frame, "kind", **FAST)
    assert model.schema_.names == ("size", "colour")
    assert model.predict(frame.drop(columns="kind")).shape == (N_ROWS,)
    assert [str(each.message) for each in warned] == [
        "Column 'date' is left out: it is the index of the frame. To keep it, call reset_index in pandas."
    ][: name is not None]


def test_a_model_predicts_files_with_and_without_an_index(tmp_path):
    frame = pd.DataFrame(columns()).sample(frac=1, random_state=0)
    frame.to_parquet(tmp_path / "indexed.parquet")
    frame.reset_index(drop=True).to_parquet(tmp_path / "plain.parquet")
    places = [tmp_path / "indexed.parquet", tmp_path / "plain.parquet"]
    for place in places:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = committee.fit(place, "kind", **FAST)
        assert evaluate(model, places[0]).scores == evaluate(model, places[1]).scores


@pytest.mark.parametrize("kind", ["id", "text", "ignore"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_target_groups_and_weights_may_have_a_type_that_is_left_out(tmp_path, suffix, kind):
    frame = pd.DataFrame(columns()).assign(patient=[f"p{i % 9}" for i in range(N_ROWS)], weight=1.5)
    path = tmp_path / f"t.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    types = dict.fromkeys(["patient", "weight", "kind"], kind)
    training = read_training_table(path, "kind", None, types, "patient", "weight")
    assert len(set(training.groups)) == 9 and set(training.weights) == {1.5}
    assert training.task == "classification" and training.X.column_names == ["size", "colour"]


def test_decimals_of_a_database_are_numbers():
    prices = [decimal.Decimal(f"{100 + i}.25") for i in range(N_ROWS)]
    training = read_training_table(pa.table({**columns(), "price": prices}), "price", None, None, None, None)
    assert training.task == "regression" and training.y[0] == 100.25


def test_an_unproved_decimal_sign_is_that_of_the_fit(tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("w;kind\n" + "".join(f"{i % 3},{125 + i};{'ab'[i % 3 == 2]}\n" for i in range(N_ROWS)))
    model = committee.fit(train, "kind", **FAST)
    assert model._origin.decimal == ","
    test.write_text("w;note\n1,125;1.5\n2,126;2.5\n")
    assert predict(model, test, ignore_extra=True).frame["prediction"].to_pylist() == ["a", "b"]
    model._origin = Origin("kind")
    with pytest.warns(UserWarning, match="1,125 in 'w', which are read as 1.125"):
        predict(model, test, ignore_extra=True)


@pytest.mark.parametrize("has_missing", [False, True])
def test_booleans_and_dates_are_the_same_classes_in_every_format(tmp_path, has_missing):
    is_large = pd.Series(columns()["size"]) > 0.3
    days = pd.to_datetime(is_large.map({True: "2024-02-29", False: "2024-03-01"}))
    for target in (is_large.astype(object if has_missing else bool), days):
        frame = pd.DataFrame(columns()).assign(kind=target)
        if has_missing:
            frame.loc[0, "kind"] = None
        frame.to_csv(tmp_path / "t.csv", index=False)
        frame.to_parquet(tmp_path / "t.parquet")
        for train, test in (("t.csv", "t.parquet"), ("t.parquet", "t.csv")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = committee.fit(tmp_path / train, "kind", **FAST)
            one, other = (evaluate(model, tmp_path / each) for each in (train, test))
            assert one == other and one.n_rows == N_ROWS - has_missing


def test_at_most_twenty_columns_that_are_left_out_are_reported():
    ids = {f"id{i}": [f"{i}-{row}" for row in range(N_ROWS)] for i in range(1000)}
    notes = read_training_table(pa.table(ids | columns()), "kind", None, None, None, None).notes
    assert len(notes) == 21
    assert notes[-1] == "980 more columns are left out like these."


def test_a_date_is_read_as_seconds():
    dates = [f"2024-01-{1 + i % 28:02d}" for i in range(N_ROWS)]
    table = pa.table({"when": pa.array(dates).cast(pa.timestamp("s")), **columns()})
    training = read_training_table(table, "kind", None, None, None, None)
    model = committee.fit(table, "kind", **FAST)
    assert model.schema_.columns[0].kind.value == "date"
    assert {each.name: each.kind.value for each in training.guesses}["when"] == "date"


def test_labels_keep_their_type():
    for labels in (["yes", "no"], [True, False], [3, 7]):
        table = pa.table(
            {"size": columns()["size"], "y": [labels[int(size > 0.3)] for size in columns()["size"]]}
        )
        assert set(committee.fit(table, "y", **FAST).classes_.tolist()) == set(labels)


def test_limits_may_be_text():
    model = committee.fit(pa.table(columns()), "kind", time_limit="1h", memory_limit="4GB", **FAST)
    assert (model.time_limit, model.memory_limit) == (3600, 4_000_000_000)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"target": "kin"}, BadTable, "Did you mean 'kind'"),
        ({"table": 7}, BadTable, "not a path or a frame"),
        ({"time_limit": 0}, ValueError, "more than 0 seconds"),
        ({"time_limit": "yesterday"}, ValueError, "90s, 10m"),
        ({"memory_limit": "much"}, ValueError, "500MB or 4GB"),
        ({"memory_limit": "100B"}, ValueError, "The table takes"),
        ({"types": {"size": "float"}}, BadTable, "A type is one of"),
        ({"task": "clustering"}, ValueError, "task must be one of"),
        ({"groups": "kind"}, BadTable, "cannot be two of"),
        ({"scoring": "acuracy"}, ValueError, "Near ones are 'accuracy'"),
    ],
)
def test_wrong_input_is_an_error_before_the_fit(given, error, words):
    with pytest.raises(error, match=words):
        committee.fit(**{"table": pa.table(columns()), "target": "kind", **FAST, **given})


def test_fit_documents_every_parameter_of_the_committee():
    shown = inspect.signature(committee.fit).parameters
    for name, parameter in inspect.signature(committee.CommitteeClassifier).parameters.items():
        assert shown[name].default == parameter.default
        assert f"\n{name} : " in committee.fit.__doc__


def test_an_unknown_parameter_is_an_error():
    with pytest.raises(TypeError, match="no parameter 'limit'"):
        committee.fit(pa.table(columns()), "kind", limit=3)


def test_a_frame_that_arrow_cannot_convert_is_an_error():
    frame = pd.DataFrame({"a": [1, "x", None], "y": ["p", "q", "p"]})
    with pytest.raises(BadTable, match="a frame that Arrow can take"):
        committee.fit(frame, "y")
