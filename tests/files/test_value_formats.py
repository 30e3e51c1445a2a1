"""Test how amounts, dates with a format, named missing values and wrong values are read."""

import datetime

import pyarrow as pa
import pyarrow.parquet
import pytest

from committee.files import AS_FOUND, BadTable, CSVForm, read_table


def written(tmp_path, *rows, name="t.csv"):
    path = tmp_path / name
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def column(path, name="v", **given):
    return read_table(path, **given).frame[name].to_pylist()


@pytest.mark.parametrize(
    ("values", "numbers", "form"),
    [
        (["$4,831.33", "-$5", "$ 7", ""], [4831.33, -5, 7, None], "$#"),
        (["12%", "7.5 %", "0%", "NA"], [12, 7.5, 0, None], "#%"),
        (["CHF 1'234.50", "CHF 2", "CHF 3", "CHF 4"], [1234.5, 2, 3, 4], "CHF#"),
        (["US$5", "US$6", "US$7", "US$8"], [5, 6, 7, 8], "US$#"),
        (["1 234", "12", "7", "2 345 678"], [1234, 12, 7, 2345678], ""),
        (["1\u202f234,50\xa0€", "7\xa0€", "1\xa0€", "2\xa0€"], [1234.5, 7, 1, 2], "#€"),
    ],
)
def test_amounts_are_numbers(tmp_path, values, numbers, form):
    table = read_table(written(tmp_path, "v;w", *(f"{value};x" for value in values)))
    found = [None if each != each else each for each in table.frame["v"].to_pylist()]
    assert found == pytest.approx(numbers)
    assert table.guesses[0].kind.value == "number" and table.guesses[0].form == form


def test_values_that_all_have_the_same_number_of_blanks_may_be_names(tmp_path):
    codes = ["110 001", "110 002", "560 034"]
    path = written(tmp_path, "v,w", *(f"{code},1" for code in codes))
    assert column(path) == codes
    assert column(path, types={"v": "number"}) == [110001, 110002, 560034]


def test_amounts_follow_the_decimal_sign_of_the_file(tmp_path):
    for sign, number in ((",", 1234.0), (".", 1.234)):
        proof = "0.5" if sign == "," else "0,5"
        price = "1,234" if sign == "," else "1.234"
        path = written(tmp_path, "v;w", f"€{price};{proof}")
        assert column(path) == [1234.0]
        path = written(tmp_path, "v;w", f"€1,234;{'0.5' if number == 1234.0 else '0,5'}")
        assert column(path) == [number]


@pytest.mark.parametrize("values", [["$5", "€5"], ["$5", "5$"], ["$5", "5"], ["$5", "five"], ["$x", "$y"]])
def test_a_column_with_several_units_is_not_a_number(tmp_path, values):
    assert column(written(tmp_path, "v,w", *(f"{value},1" for value in values))) == values


def test_a_later_amount_with_another_unit_makes_the_column_text(tmp_path):
    values = [*(f"${i}" for i in range(400_000)), "€5"]
    table = read_table(written(tmp_path, "v,w", *(f"{value},1" for value in values)), only=["v"])
    assert table.frame["v"][-1].as_py() == "€5" and table.frame["v"][0].as_py() == "$0"


def test_a_number_can_have_any_unit_that_the_user_specifies(tmp_path):
    path = written(tmp_path, "v,w", "5 kg,1", '"1,250.5 kg",2')
    assert column(path, types={"v": "number:# kg"}) == [5, 1250.5]
    with pytest.raises(BadTable, match=r"should be a number of the format # lb, but row 1 contains '5 kg'"):
        read_table(path, types={"v": "number:# lb"})


def test_plain_numbers_have_every_unit_but_percent(tmp_path):
    path = written(tmp_path, "v,w", "5,1", "6,2")
    assert column(path, types={"v": "number:$#"}) == [5, 6]
    with pytest.raises(BadTable, match="of the format #%, but row 1 contains '5'"):
        read_table(path, types={"v": "number:#%"})


@pytest.mark.parametrize(
    ("form", "text", "day"),
    [
        ("%m/%d/%Y", "02/03/2024", (2024, 2, 3)),
        ("%d/%m/%Y", "02/03/2024", (2024, 3, 2)),
        ("%d.%m.%y", "02.03.24", (2024, 3, 2)),
        ("%b %d, %Y", '"Feb 03, 2024"', (2024, 2, 3)),
        ("%d/%m/%Y %H:%M", "02/03/2024 12:30", (2024, 3, 2, 12, 30)),
    ],
)
def test_dates_have_the_format_that_the_user_specifies(tmp_path, form, text, day):
    path = written(tmp_path, "v,w", f"{text},1", ",2", "2024-12-31,3")
    types = {"v": f"date:{form}"}
    with pytest.raises(BadTable, match="its values have several formats"):
        read_table(path, types=types)
    path = written(tmp_path, "v,w", f"{text},1", ",2")
    assert column(path, types=types) == [datetime.datetime(*day), None]
    frame = pa.table({"v": [text.strip('"'), None]})
    assert column(frame, types=types) == [datetime.datetime(*day), None]


def test_a_date_with_a_format_may_be_iso(tmp_path):
    path = written(tmp_path, "v,w", "2024-12-31,3")
    assert column(path, types={"v": "date:%m/%d/%Y"}) == [datetime.datetime(2024, 12, 31)]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("date:%m/%d", "does not specify a day of a year"),
        ("date:", "does not specify a day of a year"),
        ("date:%Y-%m-%d%", "does not specify a day of a year"),
        ("date:%Y-%m-%d %Q", "does not specify a day of a year"),
        ("number:kg", "must contain one # for the number"),
        ("category:x", "only numbers and dates have one"),
        ("money:x", "cannot be a 'money:x'"),
    ],
)
def test_a_wrong_format_is_an_error(kind, words):
    with pytest.raises(BadTable, match=words):
        read_table(pa.table({"v": ["a"]}), types={"v": kind})


def test_dates_whose_order_is_not_clear_have_their_possible_formats(tmp_path):
    days = [f"{i % 12 + 1:02}/{i % 9 + 1:02}/2024" for i in range(60)]
    assert read_table(pa.table({"v": days})).guesses[0].orders == ("%m/%d/%Y", "%d/%m/%Y")
    days[5] = "01/31/2024"
    assert read_table(pa.table({"v": days})).guesses[0].orders == ("%m/%d/%Y",)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "frame"])
def test_names_of_missing_values_are_missing_in_columns_of_all_kinds(tmp_path, name):
    values = {"a": ["1", "unknown", "-999"], "b": ["x", " unknown", "y"], "c": ["2020-01-31", "unknown", ""]}
    form = CSVForm(missing=("unknown", "-999"))
    if name == "t.csv":
        rows = zip(*values.values(), strict=True)
        place = written(tmp_path, "a,b,c", *(",".join(f'"{each}"' for each in row) for row in rows))
    else:
        place = pa.table(values | {"a": pa.array([1, None, -999])})
        if name == "t.parquet":
            pa.parquet.write_table(place, tmp_path / name)
            place = tmp_path / name
    table = read_table(place, types={"c": "date"}, form=form).frame
    missing = [table[each].to_pylist()[1] for each in "abc"] + [table["a"].to_pylist()[2]]
    assert all(each is None or each != each for each in missing)
    assert table["b"].to_pylist()[::2] == ["x", "y"]


@pytest.mark.parametrize("is_file", [True, False], ids=["CSV", "frame"])
def test_wrong_values_of_a_specified_type_are_missing_and_counted(tmp_path, is_file):
    ages = [str(20 + i % 50) for i in range(60)]
    ages[7] = ages[30] = "forty"
    days = ["2024-02-29"] * 59 + ["soon"]
    place = pa.table({"age": ages, "day": days})
    if is_file:
        place = written(tmp_path, "age,day", *map(",".join, zip(ages, days, strict=True)))
    given = {"types": {"age": "number", "day": "date"}, "most_strays": {"age": 0.1, "day": 0.1}}
    table = read_table(place, **given)
    numbers = [None if each != each else each for each in table.frame["age"].to_pylist()]
    assert numbers == [None if each == "forty" else int(each) for each in ages]
    assert table.frame["day"].null_count == 1
    assert table.notes == (
        "Column 'age': 2 of 60 values are not numbers, such as 'forty' in row 8. They are missing values.",
        "Column 'day': 1 of 60 values are not dates, such as 'soon' in row 60. They are missing values.",
    )
    with pytest.raises(BadTable, match="'age' should be a number"):
        read_table(place, types={"age": "number"})


def test_many_wrong_values_of_a_specified_type_are_an_error(tmp_path):
    rows = [f"{'many' if i % 5 == 2 else i},{i}" for i in range(50)]
    path = written(tmp_path, "v,w", *rows)
    with pytest.raises(BadTable, match=r"row 3 contains 'many'. 10 of 50 values are wrong. Correct it"):
        read_table(path, types={"v": "number"}, most_strays={"v": 0.1})


def test_wrong_values_do_not_hide_the_decimal_sign(tmp_path):
    rows = [f"{i},5;x" for i in range(50)]
    rows[3] = "many;x"
    table = read_table(
        written(tmp_path, "v;w", *rows), types={"v": "number"}, most_strays={"v": 0.1}, form=AS_FOUND
    )
    assert table.decimal == "," and table.frame["v"][0].as_py() == 0.5


@pytest.mark.parametrize("is_file", [True, False], ids=["CSV", "frame"])
def test_an_amount_with_another_unit_is_never_missing(tmp_path, is_file):
    values = [*(f"{i} kg" for i in range(50)), "unclear", "60 lb"]
    place = pa.table({"v": values, "w": values})
    if is_file:
        place = written(tmp_path, "v,w", *(f"{value},1" for value in values))
    given = {"types": {"v": "number:# kg"}, "most_strays": {"v": 1.0}}
    with pytest.raises(BadTable, match="'v' should be a number"):
        read_table(place, **given)
    place = place.slice(0, 51) if not is_file else written(tmp_path, "v,w", *(f"{v},1" for v in values[:-1]))
    assert (
        "1 of 51 values are not numbers, such as 'unclear' in row 51" in read_table(place, **given).notes[0]
    )
