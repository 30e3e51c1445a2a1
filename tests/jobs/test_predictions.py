"""Test predictions with a model file or an estimator: kept columns, their order, and unseen values."""

import datetime
import os
import threading

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import committee
from committee.files import BadTable
from committee.jobs import evaluate, predict
from committee.jobs.predictions import LoadedModel, ModelFile

N_ROWS = 60
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i % 31) for i in range(N_ROWS)]


def table():
    return pa.table(
        {
            "customer_id": [f"{i:05}" for i in range(N_ROWS)],
            "size": [(7 * i) % 40 / 4 for i in range(N_ROWS)],
            "plan": ["basic" if i % 3 else "pro" for i in range(N_ROWS)],
            "is_new": [i % 5 == 0 for i in range(N_ROWS)],
            "day": DAYS,
            "kind": ["a" if (7 * i) % 40 < 20 else "b" for i in range(N_ROWS)],
        }
    )


@pytest.fixture
def path(tmp_path):
    with pytest.warns(UserWarning, match="'customer_id' is left out"):
        model = committee.fit(table(), "kind", estimators=["forest", "c45"], rule="mean", cv=2)
    model.save(tmp_path / "m.committee")
    return tmp_path / "m.committee"


def refuse():
    raise AssertionError("The estimator was loaded.")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_model_file_predicts_as_its_estimator_without_loading_it(path, tmp_path, suffix):
    from committee.files import write_file

    place = tmp_path / f"t{suffix}"
    write_file(table(), place)
    expected = predict(committee.load(path), place, proba=True).frame
    found = predict(ModelFile(path, refuse), place, proba=True).frame
    assert found.equals(expected)
    assert found["prediction"].to_pylist() == table()["kind"].to_pylist()


def test_many_rows_and_votes_are_predicted_by_the_estimator(path, monkeypatch):
    loaded = []

    def load():
        loaded.append(path)
        return committee.load(path)

    votes = predict(ModelFile(path, load), table(), votes=True).frame
    assert "vote_c45_a" in votes.column_names and len(loaded) == 1
    monkeypatch.setattr("committee.jobs.predictions.MOST_ROWS_OF_PREDICTOR", N_ROWS - 1)
    file = ModelFile(path, load)
    assert len(loaded) == 1
    assert predict(file, table()).frame.equals(votes.select(["prediction"])) and len(loaded) == 2


def test_a_model_that_needs_scikit_learn_is_loaded_once(tmp_path):
    from sklearn.neighbors import RadiusNeighborsClassifier

    pytest.importorskip("skops")
    X = table().select(["size"])
    members = [("near", RadiusNeighborsClassifier(outlier_label="a"))]
    voting = committee.VotingClassifier(members).fit(X, table()["kind"].to_numpy())
    voting.save(tmp_path / "v.committee")
    file = ModelFile(tmp_path / "v.committee", lambda: voting)
    assert "near" in file.why_loaded and isinstance(file._loaded, LoadedModel)
    assert predict(file, X).frame["prediction"].to_pylist() == voting.predict(X).tolist()


def test_columns_are_kept_as_they_are_written_and_in_order(path, tmp_path):
    rows = ["kind,customer_id,note,size,plan,is_new,day"]
    rows += [f"a,{i:03},NA,{i}.50,basic,true,2024-01-{i:02}" for i in (9, 1, 5)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    model = committee.load(path)
    kept = predict(model, tmp_path / "t.csv", keep=["customer_id", "size", "day"], ignore_extra=True).frame
    assert kept.column_names == ["customer_id", "size", "day", "prediction"]
    assert kept["customer_id"].to_pylist() == ["009", "001", "005"]
    assert kept["size"].to_pylist() == ["9.50", "1.50", "5.50"]
    assert kept["day"].to_pylist() == ["2024-01-09", "2024-01-01", "2024-01-05"]
    every = predict(model, tmp_path / "t.csv", keep="all").frame
    assert every.column_names == [*rows[0].split(","), "prediction"]
    assert every["prediction"].equals(kept["prediction"])


@pytest.mark.parametrize("is_file", [True, False], ids=["parquet", "frame"])
def test_kept_columns_of_typed_tables_keep_their_types(path, tmp_path, is_file):
    place = table()
    if is_file:
        pa.parquet.write_table(place, tmp_path / "t.parquet")
        place = tmp_path / "t.parquet"
    kept = predict(committee.load(path), place, keep=["day", "customer_id", "is_new"]).frame
    assert kept.select(["day", "customer_id", "is_new"]).equals(
        table().select(["day", "customer_id", "is_new"])
    )


def test_a_pipe_is_read_only_once(path, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    thread = threading.Thread(target=pa.csv.write_csv, args=(table(), str(tmp_path / "pipe")))
    thread.start()
    kept = predict(committee.load(path), tmp_path / "pipe", keep=["customer_id"]).frame
    thread.join()
    assert kept["customer_id"].to_pylist() == table()["customer_id"].to_pylist()


def test_columns_that_cannot_be_kept_are_an_error(path):
    model = committee.load(path)
    with pytest.raises(BadTable, match=r"no column 'custmer_id' in .* Did you mean 'customer_id'"):
        predict(model, table(), keep=["custmer_id"])
    taken = table().append_column("prediction", table()["kind"])
    with pytest.raises(BadTable, match=r"'prediction' of The table cannot be kept"):
        predict(model, taken, keep="all")


def test_unseen_values_are_counted(path):
    changed = {
        "size": pa.array([99.0, None, -1.0] + [1.0] * (N_ROWS - 3)),
        "plan": pa.array(["enterprise"] * 40 + ["gold"] * 5 + [None] * 5 + ["pro"] * 10),
        "day": pa.array([datetime.date(2024, 2, 1)] * N_ROWS),
    }
    new = table()
    for name, values in changed.items():
        new = new.set_column(new.column_names.index(name), name, values)
    unseen = predict(committee.load(path), new).unseen
    assert [str(each) for each in unseen] == [
        "size: 2 of 59 values were not seen by the fit, whose range is 0 to 9.75",
        "plan: 45 of 55 values were not seen by the fit, such as 'enterprise', which is treated as missing",
        "day: 60 of 60 values were not seen by the fit, whose range is 2024-01-01 to 2024-01-31",
    ]
    assert [each.are_most for each in unseen] == [False, True, True]
    assert evaluate(committee.load(path), new).unseen == unseen
    assert predict(committee.load(path), table()).unseen == ()


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [1.5, None, 3.0], "b": [True, False, None], "c": [7, 8, None]},
        {"a": [None, None, None], "b": [True, None, False], "c": [1, 2, 3]},
        {
            "a": [1.5, 2.5, None],
            "d": ["x", "new", None],
            "t": [datetime.time(8), None, datetime.time(23, 59)],
        },
        {"d": [None, None, None], "s": [datetime.timedelta(hours=2), None, datetime.timedelta(0)]},
        {"u": [datetime.datetime(2024, 1, 1, 9, tzinfo=datetime.UTC), None, None], "a": [1, 2, 3]},
    ],
)
def test_rows_of_every_kind_are_predicted_in_the_same_way(tmp_path, columns):
    kinds = {
        "a": [i / 4 for i in range(N_ROWS)],
        "b": [i % 3 == 0 for i in range(N_ROWS)],
        "c": list(range(N_ROWS)),
        "d": ["xyz"[i % 3] for i in range(N_ROWS)],
        "s": [datetime.timedelta(minutes=i) for i in range(N_ROWS)],
        "t": [datetime.time(i % 24, i) for i in range(N_ROWS)],
        "u": [datetime.datetime(2024, 1, 1, i % 24, i, tzinfo=datetime.UTC) for i in range(N_ROWS)],
    }
    X = pa.table({name: kinds[name] for name in columns})
    forest = committee.RandomForestClassifier(5, random_state=0).fit(X, [i % 7 < 3 for i in range(N_ROWS)])
    forest.save(tmp_path / "f.committee")
    new = pa.table({name: pa.array(values, X[name].type) for name, values in columns.items()})
    for place in (X, new):
        expected = predict(forest, place, proba=True).frame
        assert predict(ModelFile(tmp_path / "f.committee", refuse), place, proba=True).frame.equals(expected)
