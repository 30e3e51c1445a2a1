"""The form of a CSV file is detected: delimiters, quotes, encodings, headers, missing values."""

import gzip
import io

import numpy as np
import pytest

from committee.files import BadTable, ColumnKind, CSVForm, read_table
from committee.files.opened_file import HEAD_BYTES


@pytest.fixture
def csv(tmp_path):
    def write(text, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def kinds(table):
    return {each.name: each.kind.value for each in table.guesses}


def columns(table):
    return table.frame.to_pydict()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_the_delimiter_is_detected(csv, delimiter):
    rows = [["age", "city"], ["31", "Oslo"], ["54", "Bonn"]]
    path = csv("\n".join(delimiter.join(row) for row in rows) + "\n")
    assert columns(read_table(path)) == {"age": [31, 54], "city": ["Oslo", "Bonn"]}


def test_a_specified_delimiter_is_used(csv):
    path = csv("a,b:c\n1,2:3\n")
    assert read_table(path, form=CSVForm(delimiter=":")).frame.column_names == ["a,b", "c"]


def test_quotes_keep_delimiters_line_breaks_and_quotes(csv):
    path = csv('a,b\n1,"x, y"\n2,"two\nlines"\n3,"say ""no"""\n')
    assert columns(read_table(path))["b"] == ["x, y", "two\nlines", 'say "no"']


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_blanks_before_quotes_are_skipped(csv, quote, ending):
    rows = ['"name", "kind, 2", "y"', '"a",  "x, \ty", 1', ' "b", "two\nlines", "2"', "c, d, 3"]
    path = csv("".join(row.replace('"', quote) + ending for row in rows))
    table = columns(read_table(path))
    assert table == {"name": ["a", "b", "c"], "kind, 2": ["x, \ty", "two\nlines", "d"], "y": [1, 2, 3]}


def test_quotes_inside_a_value_are_kept(csv):
    path = csv('a,b\n1, the "old" one\n2, 5"\n3,"x, ""y"", z"\n5, "q"\n')
    assert columns(read_table(path))["b"] == ['the "old" one', '5"', 'x, "y", z', "q"]


def test_comments_and_empty_lines_are_skipped_in_a_file_with_blanks_before_quotes(csv):
    path = csv('# "ours", he said\na, "b"\n1, "x, y"\n# a "remark"\n\n   \n2, "z"\n')
    assert columns(read_table(path)) == {"a": [1, 2], "b": ["x, y", "z"]}
    single = read_table(csv('z\n "1.5"\n\n ""\n "2.5"\n')).frame["z"]
    np.testing.assert_array_equal(single.to_numpy(), [1.5, np.nan, np.nan, 2.5])


def test_blanks_before_quotes_do_not_change_the_line_numbers_of_errors(csv):
    with pytest.raises(BadTable, match="line 4 has 3 values instead of 2"):
        read_table(csv('a, "b"\n1, "two\nlines"\n2, "x", 3\n'))


def test_a_backslash_before_a_doubled_quote_is_a_backslash(csv):
    path = csv('a,b\n"{""k"": ""x\\""y""}",1\n"C:\\new",2\n')
    assert columns(read_table(path))["a"] == ['{"k": "x\\"y"}', "C:\\new"]


def test_quotes_can_be_single_or_escaped(csv):
    assert columns(read_table(csv("a,b\n'1','x, y'\n'2','z'\n"))) == {"a": [1, 2], "b": ["x, y", "z"]}
    assert columns(read_table(csv('a,b\n1,"say \\"no\\""\n')))["b"] == ['say "no"']


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_the_encoding_is_detected(csv, encoding):
    table = read_table(csv("größe,ort\n1,Köln\n2,5 €\n", encoding=encoding))
    assert columns(table) == {"größe": [1, 2], "ort": ["Köln", "5 €"]}
    assert bool(table.notes) == (encoding == "cp1252")


def test_bytes_that_are_invalid_in_cp1252_are_latin_1(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,K\xf6ln\n2,\x81\n")
    table = read_table(path)
    assert columns(table)["b"] == ["Köln", "\x81"] and "latin-1" in table.notes[0]


@pytest.mark.parametrize(("last", "encoding"), [(b"K\xf6ln", "cp1252"), (b"K\xf6ln\x81", "latin-1")])
def test_a_file_with_later_bytes_in_another_encoding_is_read_again(tmp_path, last, encoding):
    path = tmp_path / "late.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 400_000 + b"2," + last + b"\n")
    table = read_table(path)
    assert table.frame["b"][-1].as_py() == last.decode(encoding)
    assert encoding in table.notes[0]
    for specified in ("utf-8", "ascii"):
        with pytest.raises(BadTable, match=rf"late.csv is not written in {specified}\."):
            read_table(path, form=CSVForm(encoding=specified))


@pytest.mark.parametrize("text", ["a,b\n1,2\n", '"a",b\n1,2\n'])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_is_not_part_of_a_name(csv, text, encoding):
    path = csv(f"\ufeff{text}", encoding=encoding)
    assert columns(read_table(path, form=CSVForm(encoding=encoding))) == {"a": [1], "b": [2]}
    path = csv("\ufeff1,2\n3,4\n", encoding=encoding)
    assert columns(read_table(path, form=CSVForm(encoding=encoding))) == {"x0": [1, 3], "x1": [2, 4]}


def test_an_unknown_encoding_raises(csv):
    with pytest.raises(BadTable, match="There is no encoding 'klingon'"):
        read_table(csv("a\n1\n"), form=CSVForm(encoding="klingon"))
    for encoding in ("base64", "rot13"):
        with pytest.raises(BadTable, match=f"There is no encoding '{encoding}'"):
            read_table(csv("a\n1\n"), form=CSVForm(encoding=encoding))
    with pytest.raises(BadTable, match="not written in ascii"):
        read_table(csv("a\nü\n"), form=CSVForm(encoding="ascii"))


@pytest.mark.parametrize("delimiter", ["§", '"', "\n"])
def test_an_invalid_delimiter_raises(csv, delimiter):
    with pytest.raises(BadTable, match="A delimiter must be one ASCII character other than a quote"):
        read_table(csv("a,b\n1,2\n"), form=CSVForm(delimiter=delimiter))


def test_numbers_can_have_a_decimal_comma(csv):
    assert columns(read_table(csv("a;b\n1,5;x\n2;y\n")))["a"] == [1.5, 2.0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('a,b\n"1,234",x\n"-12,345,678.5",y\n7,z\n', [1234, -12345678.5, 7]),
        ("a;b\n1,234,567;x\n1,000;y\n", [1234567, 1000]),
        ("a;b\n1.234,5;x\n12.000;y\n", [1234.5, 12000]),
        ("a;b\n1.234.567;x\n12.000;y\n900;z\n", [1234567, 12000, 900]),
        ("a;b\n1,5;x\n-2;y\n", [1.5, -2]),
    ],
)
def test_thousands_can_be_separated(csv, text, values):
    table = read_table(csv(text))
    assert kinds(table)["a"] == "number"
    assert columns(table)["a"] == values


@pytest.mark.parametrize("sign", [".", ","])
def test_names_that_look_like_thousands_are_text_and_change_no_other_column(csv, sign):
    phones = "212.555.123", "212.555.987"
    rows = [
        f"{phone.replace('.', sign)};{price}" for phone, price in zip(phones, ("1.500", "2.25"), strict=True)
    ]
    table = read_table(csv("\n".join(["phone;price", *rows])))
    if sign == ".":
        assert kinds(table)["phone"] == "category"
    assert columns(table)["price"] == [1.5, 2.25]
    only = read_table(csv("phone;price\n212.555.123;1.500\n212.555.987;2.250\n"))
    assert columns(only) == {"phone": list(phones), "price": [1.5, 2.25]}


def test_a_comma_in_quotes_before_three_digits_separates_thousands(csv):
    assert columns(read_table(csv('a,b\n"1,123",x\n"2,456",y\n')))["a"] == [1123, 2456]
    assert columns(read_table(csv("a;b\n1,123;x\n2,456;y\n")))["a"] == [1.123, 2.456]


def test_numbers_with_commas_at_other_positions_are_text(csv):
    assert kinds(read_table(csv('a,b\n"1,23",x\n"1,2345",y\n')))["a"] == "category"
    assert kinds(read_table(csv('a,b\n"1,234,5",x\n')))["a"] == "category"


def test_a_file_has_one_decimal_sign_and_a_column_that_does_not_fit_it_is_text(csv):
    path = csv("w;v;u;n\n1,125;1.5;0,5;1\n0,126;2.5;1,5;2\n")
    table = read_table(path)
    assert columns(table) == {"w": [1.125, 0.126], "v": ["1.5", "2.5"], "u": [0.5, 1.5], "n": [1, 2]}
    assert table.decimal == ","
    (note,) = table.notes
    assert (
        "Column 'v' of" in note and "is read as text: 1.5 is not a number with the decimal sign ','" in note
    )
    assert "Pass --decimal . if" in note and "--types v=category if 1.5 is a name" in note
    assert read_table(path, types={"v": "category"}).notes == ()
    with pytest.raises(
        BadTable, match=r"row 1 contains '1.5', while .* ','\. Correct it, or pass --decimal \.\."
    ):
        read_table(path, types={"v": "number"})


def test_the_decimal_sign_is_the_one_that_most_columns_prove(csv):
    table = read_table(csv("a;b;c\n0,5;1.5;2.5\n0,6;1.5;2.5\n"))
    assert table.decimal == "." and columns(table) == {"a": ["0,5", "0,6"], "b": [1.5, 1.5], "c": [2.5, 2.5]}
    assert columns(read_table(csv("a;b\n0,5;1.5\n")))["a"] == [0.5]


def test_decimal_commas_between_commas_are_text_and_reported(csv):
    table = read_table(csv('w,v\n"1,5",x\n"2,25",y\n'))
    assert columns(table)["w"] == ["1,5", "2,25"] and "Pass --decimal ," in table.notes[0]


@pytest.mark.parametrize(
    ("text", "values", "note"),
    [
        # No value proves the sign of `w`, and text proves no sign.
        ("w;note\n1,125;v1.1\n2,126;1.0\n", [1.125, 2.126], "1,125 in 'w', which are read as 1.125"),
        # Other columns prove it.
        ("w;v\n1,125;1.5\n2,126;2.5\n", [1125, 2126], "1,125 in 'w', which are read as 1125"),
        ("w;v\n1.125;1,5\n2.126;2,5\n", [1125, 2126], "1.125 in 'w', which are read as 1125"),
        ("w;v\n1,125;1,5\n2,126;2,5\n", [1.125, 2.126], None),
        ("w;v\n1.125;1.5\n2.126;2.5\n", [1.125, 2.126], None),
    ],
)
def test_a_decimal_sign_without_proof_is_reported(csv, text, values, note):
    table = read_table(csv(text))
    assert columns(table)["w"] == values
    if note is None:
        assert table.notes == ()
    else:
        assert note in table.notes[0] and "--decimal" in table.notes[0]


@pytest.mark.parametrize("n_whole", [120, 600_000])
def test_decimals_can_follow_many_whole_numbers(csv, n_whole):
    table = read_table(csv("w;y\n" + "7;a\n" * n_whole + "0,125;b\n"))
    assert table.frame["w"].to_pylist()[-2:] == [7.0, 0.125]


def test_a_later_value_can_prove_another_decimal_sign(csv):
    table = read_table(csv("w;y\n" + "1,125;a\n" * 400_000 + "1,125.5;b\n"))
    assert table.frame["w"].to_pylist()[-2:] == [1125, 1125.5]
    assert table.notes == ()


def test_an_error_names_the_value_that_is_not_a_number_with_any_sign(csv):
    with pytest.raises(BadTable, match="'w' should be a number, but row 2 contains 'many'"):
        read_table(csv("w;y\n1,5;a\nmany;b\n"), types={"w": "number"})
    with pytest.raises(BadTable, match="'w' should be a number, but its values have several formats"):
        read_table(csv("w;y\n1,5;a\n1.5;b\n"), types={"w": "number"})


def test_grouped_thousands_never_begin_with_0(csv):
    assert kinds(read_table(csv('a,b\n"0,125",x\n"1,250",y\n')))["a"] == "category"
    assert columns(read_table(csv("a;b\n-0,125;x\n1,250;y\n")))["a"] == [-0.125, 1.25]


def test_a_specified_decimal_sign_is_used(csv):
    path = csv("w;v\n1,125;x\n2,126;y\n")
    table = read_table(path, form=CSVForm(decimal="."))
    assert columns(table)["w"] == [1125, 2126] and table.notes == ()
    assert columns(read_table(csv('w,v\n"1,5",x\n'), form=CSVForm(decimal=",")))["w"] == [1.5]


def test_a_file_without_proof_has_the_decimal_sign_of_the_fit(csv):
    path = csv("w;v\n1,125;1.5\n")
    fit = CSVForm(known_decimal=",")
    table = read_table(path, only=["w"], form=fit)
    assert columns(table)["w"] == [1.125] and table.notes == ()
    assert columns(read_table(csv("w;v\n1.5;x\n"), form=fit))["w"] == [1.5]
    assert columns(read_table(csv("w;v\n12.000;x\n"), form=fit))["w"] == [12_000]
    assert columns(read_table(csv('w,v\n"1,125",x\n'), form=fit))["w"] == [1.125]
    assert columns(read_table(csv("w,v\n1.125,x\n"), form=fit))["w"] == [1.125]
    mixed = read_table(csv('w,v\n1.125,"1,125"\n'), form=fit)
    assert columns(mixed) == {"w": [1.125], "v": [1125]} and "1,125 in 'v'" in mixed.notes[0]


def test_whole_numbers_of_too_many_digits_are_text(csv):
    path = csv("n,y\n" + "".join(f"{2**60 + i % 2},{i % 2}\n" for i in range(30)))
    assert kinds(read_table(path))["n"] == "category"
    assert set(columns(read_table(path))["n"]) == {str(2**60), str(2**60 + 1)}
    assert columns(read_table(path, types={"n": "number"}))["n"] == [float(2**60)] * 30
    assert kinds(read_table(csv(f"n\n{2**60}\n{'9' * 5000}\n")))["n"] == "category"
    assert kinds(read_table(csv(f"n\n{2**60}\n{2**61}\n")))["n"] == "number"


def test_an_index_written_by_pandas_is_skipped(csv):
    rows = [f"{(7 * i) % 31},{i % 5}" for i in range(31)]
    table = read_table(csv(",n\n" + "\n".join(rows) + "\n"))
    assert kinds(table) == {"Unnamed: 0": "id", "n": "number"}
    assert table.guesses[0].why == "a different number in every row"


@pytest.mark.parametrize("sign", ["\x85", "\x0b", "\x0c", "\u2028"])
def test_only_line_breaks_end_a_line(csv, sign):
    table = read_table(csv(f"a{sign}b,c\n1,x{sign}y\n"))
    assert columns(table) == {f"a{sign}b": [1], "c": [f"x{sign}y"]}


def test_lines_of_spaces_are_skipped(csv):
    assert columns(read_table(csv("a,b\n1,2\n   \n3,4\n"))) == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_first_line_of_excel_specifies_the_delimiter(csv, line):
    assert columns(read_table(csv(f"{line}\na;b\n1;x,y\n"))) == {"a": [1], "b": ["x,y"]}


def test_lines_of_comments_are_skipped(csv):
    text = "# made by us, on Monday, with care\n\n# and again\na,b\n1,2\n# in the midst\n3,4\n"
    assert columns(read_table(csv(text))) == {"a": [1, 3], "b": [2, 4]}
    assert columns(read_table(csv("# one column\na\n1\n2\n"))) == {"a": [1, 2]}


def test_a_header_can_begin_like_a_comment(csv):
    assert columns(read_table(csv("# ours\n#a,b\n1,2\n3,4\n"))) == {"#a": [1, 3], "b": [2, 4]}


def test_a_comment_above_a_header_is_skipped_even_if_it_looks_like_a_header(csv):
    text = "# Smith, 2020\nage,y\n31,0\n45,1\n"
    assert columns(read_table(csv(text))) == {"age": [31, 45], "y": [0, 1]}
    assert columns(read_table(csv("#a,b\nNA,2\n3,4\n")))["b"] == [2, 4]


def test_values_can_begin_like_a_comment(csv):
    assert columns(read_table(csv("tag,n\n#red,1\n#blue,2\n"))) == {"tag": ["#red", "#blue"], "n": [1, 2]}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_the_error_for_a_row_of_another_length_has_its_line_number(csv, encoding):
    text = 'a,b\n1,"ü\nü"\n\n' + "1,2\n" * 50 + "1,2,3\n" + "1,2\n" * 50
    with pytest.raises(BadTable, match=r"line 55 has 3 values instead of 2: '1,2,3'"):
        read_table(csv(text, encoding=encoding))


def test_a_row_of_numbers_is_not_a_header(csv):
    table = read_table(csv("1,2\n3,4\n"))
    assert columns(table) == {"x0": [1, 3], "x1": [2, 4]}
    assert "no header" in table.notes[0]
    assert read_table(csv("1,2\n3,4\n"), form=CSVForm(header=True)).frame.column_names == ["1", "2"]
    assert read_table(csv("a,b\n3,4\n"), form=CSVForm(header=False)).frame.num_rows == 2


@pytest.mark.parametrize("first", ["1,,3", "1,NA,3", "?,2,n.a.", '"1,200",5,3', '"1,5",-2,1e3'])
def test_a_row_of_numbers_and_missing_values_is_not_a_header(csv, first):
    table = read_table(csv(f"{first}\n3,4,5\n"))
    assert table.names == ("x0", "x1", "x2") and table.frame.num_rows == 2


def test_the_names_of_pandas_for_columns_without_names_are_a_header(csv):
    assert read_table(csv(",0,1\n5,1.5,2\n7,2.5,3\n")).names == ("Unnamed: 0", "0", "1")
    assert read_table(csv(",,\n5,1.5,2\n")).names == ("Unnamed: 0", "Unnamed: 1", "Unnamed: 2")


@pytest.mark.parametrize("text", ["1,5;2,5\n3,5;4,5\n", "Oslo;1,5\nBonn;2,5\n", "1,5;2\n2,5;3\n"])
def test_decimal_commas_are_not_delimiters_in_a_file_without_header(csv, text):
    table = read_table(csv(text), form=CSVForm(header=False)).frame
    assert table.num_columns == 2
    assert [1.5, 2.5] in table.to_pydict().values() or table["x0"].to_pylist() == [1.5, 3.5]


def test_an_empty_line_is_a_row_of_a_single_column(csv):
    table = read_table(csv("z\n1.5\n\n2.5\n"))
    np.testing.assert_array_equal(table.frame["z"].to_numpy(), [1.5, np.nan, 2.5])
    assert columns(read_table(csv("a,b\n1,2\n\n3,4\n"))) == {"a": [1, 3], "b": [2, 4]}


def test_empty_lines_before_the_header_are_skipped(csv):
    assert columns(read_table(csv("\n\na,b\n1,2\n"))) == {"a": [1], "b": [2]}


def test_words_for_missing_values_are_missing(csv):
    table = read_table(csv('a,b\nNA,x\n?,\n1.5,"NA"\n" ",y\n'))
    assert np.isnan(table.frame["a"].to_numpy()).tolist() == [True, True, False, True]
    assert columns(table)["b"] == ["x", None, "NA", "y"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("missing", ['""', '"NA"', '"  "'])
def test_a_missing_value_among_whole_numbers_is_found_with_every_delimiter(csv, delimiter, missing):
    rows = [["age", "y"], ["31", "1"], [missing, "0"], ["54", "1"]]
    path = csv("\n".join(delimiter.join(row) for row in rows) + "\n")
    for types in ({}, {"age": "number"}):
        table = read_table(path, types=types)
        assert kinds(table)["age"] == "number"
        np.testing.assert_array_equal(table.frame["age"].to_numpy(), [31, np.nan, 54])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_spaces_before_numbers_are_skipped_with_every_delimiter(csv, delimiter):
    path = csv(f"age{delimiter}zip\n 31{delimiter} 007\n 54{delimiter} 123\n")
    table = read_table(path)
    assert columns(table) == {"age": [31, 54], "zip": ["007", "123"]}


def test_kinds_are_inferred(csv):
    rows = [
        f"{i / 7},{'ab'[i % 2]},{['true', 'False'][i % 2]},2024-01-{i + 1:02d},{i % 3:03d}" for i in range(24)
    ]
    table = read_table(csv("n,c,b,d,zip\n" + "\n".join(rows) + "\n"))
    assert kinds(table) == {"n": "number", "c": "category", "b": "boolean", "d": "date", "zip": "category"}
    assert columns(table)["zip"][:2] == ["000", "001"]
    assert str(table.frame["d"][0]) == "2024-01-01 00:00:00"


@pytest.mark.parametrize("time", ["10:30", "10:30:00"])
@pytest.mark.parametrize("text", ["2024-02-29", "2024/02/29", "29.02.2024"])
def test_dates_can_have_a_time_of_day(csv, text, time):
    table = read_table(csv(f"d\n{text} {time}\n{text} {time}\n"))
    assert kinds(table) == {"d": "date"}
    assert str(table.frame["d"][1]) == "2024-02-29 10:30:00"


@pytest.mark.parametrize(
    "text", ["2024-02-29", "2024-02-29T00:00:00Z", "2024-02-29 00:00:00", "2024/02/29", "29.02.2024"]
)
def test_dates_are_read_in_unambiguous_formats(csv, text):
    table = read_table(csv(f"d\n{text}\n{text}\n"))
    assert kinds(table) == {"d": "date"}
    assert table.frame["d"].cast("timestamp[s]").cast("int64").to_pylist() == [1709164800] * 2


def test_ambiguous_days_and_months_are_text(csv):
    assert kinds(read_table(csv("d\n02/03/2024\n03/02/2024\n"))) == {"d": "category"}


@pytest.mark.parametrize("text", ["15/03/24", "15.03.24", "24.03.15", "1.2.3", "15.03.24 10:30"])
def test_years_of_two_digits_are_text(csv, text):
    assert kinds(read_table(csv(f"d;y\n{text};0\n{text};1\n"))) == {"d": "category", "y": "number"}


@pytest.mark.parametrize(
    "missing", ["None", "NaT", "n.a.", "N.A.", "#N/A N/A", "-", ".", "#DIV/0!", "0000-00-00"]
)
def test_usual_words_for_missing_values_are_missing_among_numbers_and_dates(csv, missing):
    table = read_table(csv(f"n,i,d,b\n0.5,7,2024-02-29,true\n{missing},{missing},{missing},{missing}\n"))
    assert kinds(table) == {"n": "number", "i": "number", "d": "date", "b": "boolean"}
    assert [np.isnan(table.frame[name].to_numpy()[1]) for name in "ni"] == [True, True]
    assert [table.frame[name][1].as_py() for name in "db"] == [None, None]


@pytest.mark.parametrize("n_first", [1, 600_000])
def test_words_that_mean_missing_among_numbers_are_kept_in_text(csv, n_first):
    table = read_table(csv("a,b\n" + "None,1\n" * n_first + "-,1\nred,2\n"))
    assert table.frame["a"].to_pylist()[n_first - 1 :] == ["None", "-", "red"]


def test_ids_are_skipped(csv):
    rows = [f"{i + 1},{1000 + 7 * i},u{i},{i % 5}" for i in range(30)]
    table = read_table(csv("row,user_id,name,n\n" + "\n".join(rows) + "\n"))
    assert kinds(table) == {"row": "id", "user_id": "id", "name": "id", "n": "number"}
    assert table.frame.column_names == ["n"]
    assert all(each.why for each in table.guesses[:3])


def test_prose_is_skipped(csv):
    rows = [f'"it is the {i}th of many words",{i % 2}' for i in range(30)]
    assert kinds(read_table(csv("note,n\n" + "\n".join(rows) + "\n"))) == {"note": "text", "n": "number"}


def test_specified_types_overrule_inferred_types(csv):
    path = csv("zip,when,note\n1,2024-01-01,a\n2,2024-01-02,b\n")
    table = read_table(path, types={"zip": "category", "when": "category", "note": "ignore"})
    assert columns(table) == {"zip": ["1", "2"], "when": ["2024-01-01", "2024-01-02"]}
    assert kinds(table)["note"] == "ignore"


def test_an_error_names_the_row_of_a_value_of_the_wrong_type(csv):
    path = csv("age\n31\nold\n")
    assert kinds(read_table(path)) == {"age": "category"}
    with pytest.raises(BadTable, match=r"Column 'age' should be a number, but row 2 contains 'old'\."):
        read_table(path, types={"age": "number"})


def test_dates_in_several_formats_raise_if_the_column_must_be_a_date(csv):
    path = csv("when\n2024-01-31\n31.01.2024\n")
    assert kinds(read_table(path)) == {"when": "category"}
    with pytest.raises(BadTable, match="'when' should be a date, but its values have several formats"):
        read_table(path, types={"when": "date"})


def test_dates_of_another_format_raise_with_a_way_to_pass_it(csv):
    path = csv("when\n01/31/2024\n02/13/2024\n")
    with pytest.raises(BadTable, match=r"contains '01/31/2024'.*pass it: when=date:%m/%d/%Y\."):
        read_table(path, types={"when": "date"})


def test_numbers_with_leading_zeros_are_numbers_if_the_user_specifies_it(csv):
    assert columns(read_table(csv("n\n007\n008\n"), types={"n": "number"})) == {"n": [7, 8]}


def test_an_unknown_column_or_type_raises(csv):
    path = csv("age\n31\n")
    with pytest.raises(BadTable, match=r"no column 'agee' in .* Did you mean 'age'"):
        read_table(path, types={"agee": "number"})
    with pytest.raises(BadTable, match="'age' cannot be a 'float'"):
        read_table(path, types={"age": "float"})


def test_a_column_whose_later_values_are_text_is_read_again_as_text(csv):
    text = "a,b\n" + "007,1\n" * 3 + "1.50,2\n" * 300_000 + "x,3\n"
    table = read_table(csv(text.replace("007,1\n" * 3, "")))
    assert table.frame["a"].to_pylist()[0] == "1.50"
    assert table.frame["a"].to_pylist()[-1] == "x"
    assert table.frame.num_rows == 300_001


def test_labels_are_not_converted_to_booleans_and_never_skipped(csv):
    rows = [f"{['true', 'false'][i % 2]},{i}" for i in range(30)]
    table = read_table(csv("y,x\n" + "\n".join(rows) + "\n"), labels=["y", "x"])
    assert set(columns(table)["y"]) == {"true", "false"}
    assert columns(table)["x"] == list(range(30))


def test_a_selection_of_columns_can_be_read(csv):
    table = read_table(csv("a,b,c\n1,2,3\n"), only=["c", "a"])
    assert columns(table) == {"a": [1], "c": [3]}


def test_whole_numbers_take_few_bytes(csv):
    table = read_table(csv("a,b,c\n1,300,0.5\n2,-300,1\n"))
    assert [str(field.type) for field in table.frame.schema] == ["int8", "int16", "double"]


def test_a_column_without_values_is_skipped(csv):
    assert kinds(read_table(csv("a,b\n,1\n,2\n"))) == {"a": "ignore", "b": "number"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "has no rows"),
        ("a,b,a\n1,2,3\n", "has two columns called 'a': columns 1 and 3. Rename one"),
        ("a,b\n1,2,3\n", "line 2 has 3 values instead of 2: '1,2,3'"),
        ("a,b\n1\n2,3\n", "line 2 has 1 values instead of 2: '1'"),
    ],
)
def test_text_that_is_not_a_table_raises_an_error_of_one_line(csv, text, message):
    with pytest.raises(BadTable, match=message) as caught:
        read_table(csv(text))
    assert "\n" not in str(caught.value)


def test_a_packed_file_is_unpacked(csv, tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,x\n"))
    assert columns(read_table(path)) == {"a": [1], "b": ["x"]}


def test_a_packed_file_that_is_cut_off_raises(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + bytes(range(48, 58)) * 5000)[:60])
    with pytest.raises(BadTable, match="packed with gzip and cannot be unpacked"):
        read_table(path)


def test_the_standard_input_is_read(monkeypatch):
    class Standard:
        buffer = io.BytesIO(b"a,b\n1,x\n")

    monkeypatch.setattr("sys.stdin", Standard)
    assert columns(read_table("-")) == {"a": [1], "b": ["x"]}


def test_thousands_of_columns_are_read(csv):
    names = [f"c{i}" for i in range(3000)]
    table = read_table(csv(",".join(names) + "\n" + ",".join("7" * 3000) + "\n"))
    assert table.frame.num_columns == 3000
    assert {each.kind for each in table.guesses} == {ColumnKind.NUMBER}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_text_with_zero_bytes_is_read_if_its_encoding_is_specified(csv, encoding):
    path = csv("a,city\n1,Köln\n2,Oslo\n", encoding=encoding)
    assert columns(read_table(path, form=CSVForm(encoding=encoding))) == {
        "a": [1, 2],
        "city": ["Köln", "Oslo"],
    }
    if encoding != "utf-32":
        with pytest.raises(BadTable, match=r"it contains binary data. If it is CSV, specify its encoding"):
            read_table(path)


@pytest.mark.parametrize("before", ["", "# ours\n\n"])
def test_a_header_longer_than_the_first_bytes_is_read_completely(tmp_path, before):
    names = [f"{'a long name ' * 100}{place}" for place in range(1000)]
    assert len(",".join(names)) > HEAD_BYTES
    path = tmp_path / "wide.csv"
    path.write_text(f"{before}{','.join(names)},y\n" + f"{'1,' * 1000}0\n" * 3)
    assert read_table(path).names == (*names, "y")
