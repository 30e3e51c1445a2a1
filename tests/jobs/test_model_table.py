"""Test that a model reads a new table with the formats and missing values of its fit."""

import pytest

import committee
from committee.files import BadTable
from committee.jobs import evaluate, predict

FAST = {"estimators": ["c45"], "cv": 2, "random_state": 0}
ROWS = [(f'"${1000 + i:,}"', f"{i}%", f'"Feb {i % 28 + 1:02}, 2024"', i, "ab"[i % 2]) for i in range(60)]
TYPES = {"day": "date:%b %d, %Y", "age": "number"}


def written(path, rows):
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join(["price,rate,day,age,kind", *lines]) + "\n")
    return path


@pytest.fixture
def model(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[4][3], rows[9][3] = "forty", "unknown"
    path = tmp_path / "m.committee"
    with pytest.warns(UserWarning, match="'age': 1 of 59 values are not numbers, such as 'forty' in row 5"):
        fitted = committee.fit(
            written(tmp_path / "train.csv", rows), "kind", types=TYPES, missing=["unknown"], **FAST
        )
    fitted.save(path)
    return committee.load(path)


def test_the_model_stores_what_the_fit_decided(model):
    origin = model._origin
    assert origin.formats == {"price": "$#", "rate": "#%", "day": "%b %d, %Y"}
    assert origin.missing == ("unknown",) and origin.coerced == ("day", "age")
    assert origin.ranges["price"] == (1000.0, 1059.0) and origin.ranges["age"] == (0.0, 59.0)


def test_a_new_table_is_read_in_the_same_way(model, tmp_path):
    new = written(tmp_path / "new.csv", ROWS)
    expected = predict(model, new).frame["prediction"]
    assert (
        predict(model, written(new, [(row[0][2:-1].replace(",", ""), *row[1:]) for row in ROWS])) is not None
    )
    rows = [list(row) for row in ROWS]
    rows[0][3], rows[1][3] = "unknown", "fifty"
    with pytest.warns(UserWarning, match="such as 'fifty' in row 2"):
        assert predict(model, written(new, rows)).frame["prediction"][2:] == expected[2:]


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (0, "€5", "'price' should be a number of the format"),
        (1, "0.5", "'rate' should be a number of the format #%"),
    ],
)
def test_another_unit_is_an_error(model, tmp_path, place, value, words):
    rows = [list(row) for row in ROWS[:5]]
    rows[2][place] = value
    with pytest.raises(BadTable, match=words):
        predict(model, written(tmp_path / "new.csv", rows))


@pytest.mark.parametrize(
    ("renamed", "words"),
    [
        (
            {"price": "Price"},
            r"no column 'price' in .*\. Did you mean 'Price'\? If so, pass --rename price=Price\.",
        ),
        ({"price": "PRICE", "rate": "Rate"}, r"no columns 'price', 'rate' in .* mean 'PRICE', 'Rate'\?"),
        ({"price": "prize"}, "Did you mean 'prize'"),
        ({"price": "pric", "rate": "rat"}, r"Its other columns are pric, rat, kind\."),
        # A column of the fit is never suggested for another one.
        (
            {"price": "rate", "rate": "other"},
            r"no column 'price' in .*\. Its other columns are other, kind\.",
        ),
    ],
)
def test_missing_columns_are_compared_with_columns_that_are_free(model, tmp_path, renamed, words):
    path = written(tmp_path / "new.csv", ROWS)
    header, rest = path.read_text().split("\n", 1)
    names = [renamed.get(name, name) for name in header.split(",")]
    path.write_text(",".join(names) + "\n" + rest)
    with pytest.raises(BadTable, match=words):
        predict(model, path, ignore_extra=True)


def test_renamed_columns_are_read_by_their_names_in_the_fit(model, tmp_path):
    new = written(tmp_path / "new.csv", ROWS)
    expected = predict(model, new).frame["prediction"]
    new.write_text(new.read_text().replace("price,rate", "Cost,Share", 1))
    renamed = {"price": "Cost", "rate": "Share"}
    assert predict(model, new, renamed=renamed).frame["prediction"] == expected
    new.write_text(new.read_text().replace("kind", "sort", 1))
    found = evaluate(model, new, renamed=renamed | {"kind": "sort"})
    assert found.n_rows == len(ROWS)


@pytest.mark.parametrize(
    ("renamed", "words"),
    [
        ({"prize": "rate"}, "no column 'prize'. Did you mean 'price'"),
        ({"price": "rate"}, "stands for two columns"),
        ({"price": "Preis"}, "no column 'Preis'"),
    ],
)
def test_wrong_names_of_columns_are_an_error(model, tmp_path, renamed, words):
    with pytest.raises(BadTable, match=words):
        predict(model, written(tmp_path / "new.csv", ROWS), renamed=renamed)
