"""Files of every format return the same table, and wrong files raise an error of one line."""

import decimal
import gzip
import json
import os
import threading
from datetime import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from committee.files import BadTable, read_table

ROWS = {"age": [31.5, 54.0, None], "city": ["Oslo", None, "Bonn"], "ok": [True, False, True]}
ARFF = """% people
@relation people
@attribute age numeric
@attribute 'city' {Oslo, 'Bonn'}
@attribute ok string
@data
31.5,Oslo,true
% a remark
54.0,?,false
?,Bonn,true
"""


def write(path, table):
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        pa.parquet.write_table(table, path)
    elif name.endswith((".feather", ".arrow")):
        pa.feather.write_feather(table, path)
    elif name.endswith(".arrows"):
        with pa.ipc.new_stream(str(path), table.schema) as stream:
            stream.write_table(table)
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif name.endswith(".arff"):
        path.write_text(ARFF)
    else:
        path.write_text("age,city,ok\n31.5,Oslo,true\n54.0,,false\n,Bonn,true\n")
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather", "arrow", "arrows", "jsonl", "arff"])
def test_every_format_gives_the_same_table(tmp_path, suffix, packed):
    path = tmp_path / f"people.{suffix}{packed}"
    write(path, pa.table(ROWS))
    table = read_table(path)
    assert [(each.name, each.kind.value) for each in table.guesses] == [
        ("age", "number"),
        ("city", "category"),
        ("ok", "boolean"),
    ]
    age = table.frame["age"].to_pandas().tolist()
    assert age[:2] == [31.5, 54.0] and age[2] != age[2]
    assert table.frame["city"].to_pylist() == ["Oslo", None, "Bonn"]
    assert table.frame["ok"].to_pylist() == [True, False, True]


@pytest.mark.parametrize("suffix", ["parquet", "feather", "jsonl"])
def test_specified_types_overrule_the_types_of_the_file(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    write(path, pa.table({"zip": [10115, 53113], "n": ["1", "2"], "when": ["2024-01-01", "2024-01-02"]}))
    table = read_table(path, types={"zip": "category", "n": "number", "when": "date"})
    assert [each.kind.value for each in table.guesses] == ["category", "number", "date"]
    assert table.frame["zip"].to_pylist() == ["10115", "53113"]
    assert table.frame["n"].to_pylist() == [1.0, 2.0]
    assert pa.types.is_timestamp(table.frame["when"].type)


def test_a_type_that_does_not_fit_the_values_raises(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, pa.table({"n": ["1", "many"]}))
    with pytest.raises(BadTable, match="'n' should be a number, but is a category"):
        read_table(path, types={"n": "number"})


def test_a_column_of_lists_raises_unless_it_is_ignored(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, pa.table({"a": [1, 2], "tags": [["x"], ["y"]]}))
    with pytest.raises(BadTable, match="Column 'tags' contains a list"):
        read_table(path)
    assert read_table(path, types={"tags": "ignore"}).frame.column_names == ["a"]


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrows", "jsonl"])
def test_column_names_can_be_any_text(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    write(path, pa.table({"a.b": [1.5, 2.5], "größe, m": [3.5, 4.5], "a": [5.5, 6.5]}))
    assert read_table(path).frame.to_pydict() == {"a.b": [1.5, 2.5], "größe, m": [3.5, 4.5], "a": [5.5, 6.5]}


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_arff_can_have_blanks_before_quotes_and_both_kinds_of_quotes(tmp_path, encoding):
    path = tmp_path / "t.arff"
    rows = ["1, 'ä b', x", '2,"ä b","it\'s"', " 3 , \"ä b\" , 'it\\'s'", "4, c, '5\"'", "5,'a, \"b\"','x'"]
    header = "@relation r\n@attribute n numeric\n@attribute ä {'ä b', c}\n@attribute t string\n@data\n"
    path.write_bytes((header + "\n".join(rows) + "\n").encode(encoding))
    assert read_table(path).frame.to_pydict() == {
        "n": [1, 2, 3, 4, 5],
        "ä": ["ä b", "ä b", "ä b", "c", 'a, "b"'],
        "t": ["x", "it's", "it's", '5"', "x"],
    }


def test_empty_lines_of_arff_are_skipped(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text("@relation r\n@attribute a real\n@data\n1\n\n?\n2\n\n")
    assert len(read_table(path).frame) == 3


def test_dates_of_arff_can_be_years(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(
        '@relation r\n@attribute a date "yyyy"\n@attribute b date\n@data\n1999,2024-01-31\n2001,?\n'
    )
    assert [each.kind.value for each in read_table(path).guesses] == ["number", "date"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute a real\n", "without @data"),
        ("@relation r\n@data\n1\n", "without attributes"),
        ("@relation r\n@attribute a relational\n@data\n1\n", "'a' is relational"),
        ("@relation r\n@attribute a real\n@data\n", "has no rows"),
        ("@relation r\n@attribute a real\n@data\nx\n", "'a' should be a number, but row 1 contains 'x'"),
        ("@relation r\n@attribute a real\n@data\n{0 1}\n", "is sparse ARFF.* filter SparseToNonSparse"),
    ],
)
def test_invalid_arff_raises_an_error_of_one_line(tmp_path, text, message):
    path = tmp_path / "t.arff"
    path.write_text(text)
    with pytest.raises(BadTable, match=message):
        read_table(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"PAR1\0\0", "cannot be read as Parquet"),
        ("t.parquet.gz", b"a,b\n1,2\n", "is text, not Parquet. If it is CSV, rename it to .*t.csv"),
        ("t.csv.xz", b"\xfd7zXZ", "is packed with xz. Unpack it, or pack it with zstd"),
        ("t.csv.br", b"a\n1\n", "is packed with brotli and cannot be unpacked"),
        ("t.csv", b"PK\x03\x04rest", "is a zip archive or an Excel workbook"),
        ("t.csv", b"<!DOCTYPE html><html>", "is a web page"),
        ("t.csv", b"a,b\n1,\x00\n", "not a table: it contains binary data"),
        ("t.json", b'[\n{"a": 1}]\n', "is a JSON array"),
        ("t.parquet", b"PAR1 and then nothing of the kind", "cannot be read as Parquet"),
        ("t.arrow", b"ARROW1 and then nothing of the kind", "cannot be read as Arrow"),
        ("t.jsonl", b'{"a": 1}\n{"a": \n', "cannot be read as JSON lines"),
        ("t.jsonl", b'{"a": 1}\n{"a": "x"}\n', "cannot be read as JSON lines"),
    ],
)
def test_an_unreadable_file_raises_an_error_of_one_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadTable, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["csv", "gz", "csv.bz2", "jsonl", "parquet"])
def test_the_content_overrules_the_suffix(tmp_path, suffix):
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    for name in ("t.parquet", "t.feather", "t.jsonl", "t.jsonl.gz"):
        write(tmp_path / name, table)
        renamed = (tmp_path / name).rename(tmp_path / f"renamed.{suffix}")
        assert read_table(renamed).frame.to_pydict() == table.to_pydict()
    if suffix in ("csv", "gz", "csv.bz2"):
        for content in (b"a,b\n1,x\n2,y\n", gzip.compress(b"a,b\n1,x\n2,y\n")):
            renamed.write_bytes(content)
            assert read_table(renamed).frame.to_pydict() == table.to_pydict()


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("name", [None, "row"])
def test_the_index_of_pandas_is_not_a_column(tmp_path, suffix, name):
    path = tmp_path / f"t.{suffix}"
    frame = pd.DataFrame({"a": [1.5, 2.5]}, index=pd.Index([7, 3], name=name))
    write(path, pa.Table.from_pandas(frame))
    table = read_table(path)
    stored = name or "__index_level_0__"
    assert table.frame.column_names == ["a"] and table.names == ("a",) and table.index == (stored,)
    assert read_table(path, types={stored: "number"}).frame.column_names == ["a", stored]


def test_a_range_index_is_not_in_the_file(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, pa.Table.from_pandas(pd.DataFrame({"a": [1.5, 2.5]})))
    assert read_table(path).index == ()


@pytest.mark.parametrize(("scale", "expected"), [(2, "double"), (0, "int64")])
def test_decimals_are_numbers(tmp_path, scale, expected):
    path = tmp_path / "t.parquet"
    values = [decimal.Decimal("101"), None, decimal.Decimal("-7")]
    write(path, pa.table({"price": pa.array(values, pa.decimal128(10, scale))}))
    column = read_table(path, labels=["price"]).frame["price"]
    assert str(column.type) == expected and column.to_pylist() == [101, None, -7]


def test_dates_as_text_have_their_shortest_form(tmp_path):
    path = tmp_path / "t.parquet"
    days = [datetime(2024, 1, 31), datetime(2024, 2, 29)]
    write(path, pa.table({"day": days, "hour": [each.replace(hour=12) for each in days]}))
    table = read_table(path, types={"day": "category", "hour": "category"}).frame
    assert table["day"].to_pylist() == ["2024-01-31", "2024-02-29"]
    assert table["hour"].to_pylist() == ["2024-01-31 12:00:00", "2024-02-29 12:00:00"]


def test_a_dictionary_of_numbers_is_a_category_or_an_id(tmp_path):
    path = tmp_path / "t.feather"
    machines = [i % 15 for i in range(20)]
    columns = {"machine": machines, "serial": range(100, 120)}
    write(path, pa.table({name: pa.array(values).dictionary_encode() for name, values in columns.items()}))
    table = read_table(path)
    assert [each.kind.value for each in table.guesses] == ["category", "id"]
    assert table.frame.to_pydict() == {"machine": machines}


def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[b"a,b\n1,x\n"])
    writer.start()
    assert read_table(path).frame.to_pydict() == {"a": [1], "b": ["x"]}
    writer.join()


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_table(tmp_path)


def test_two_columns_of_the_same_name_raise(tmp_path):
    path = tmp_path / "t.feather"
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    with pytest.raises(BadTable, match="has two columns called 'a': columns 1 and 2"):
        read_table(path)
