"""Random tables that Python's own writer has written are read unchanged."""

import csv
import io
import math

from hypothesis import given
from hypothesis import strategies as st

from committee.files import read_table
from committee.files.column_kinds import MISSING

NUMBERS = st.floats(allow_infinity=False, allow_nan=False, width=32).map(float)
TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"))
    | st.sampled_from(",;\t|\"' \n"),
    min_size=1,
    max_size=8,
).map(lambda text: f"a{text}b")
assert not any(word.startswith("a") for word in MISSING)


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 8))
    kinds = draw(st.lists(st.booleans(), min_size=2, max_size=5))
    return [
        draw(st.lists((TEXT if is_text else NUMBERS) | st.none(), min_size=n_rows, max_size=n_rows))
        for is_text in kinds
    ]


@given(columns=tables(), delimiter=st.sampled_from(",;\t|"), ending=st.sampled_from(["\n", "\r\n"]))
def test_tables_written_by_python_are_read(tmp_path_factory, columns, delimiter, ending):
    names = [f"column{place}" for place in range(len(columns))]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=ending)
    writer.writerows([names, *zip(*columns, strict=True)])
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    path.write_bytes(text.getvalue().encode())
    table = read_table(path, keep_all=True).frame.to_pydict()
    for name, column in zip(names, columns, strict=True):
        assert [same(value) for value in table[name]] == [same(value) for value in column]


@given(columns=tables(), delimiter=st.sampled_from(",;|"), blanks=st.sampled_from(["", " ", "  "]))
def test_blanks_before_quotes_change_nothing(tmp_path_factory, columns, delimiter, blanks):
    names = [f"column{place}" for place in range(len(columns))]
    rows = [[quoted(cell) for cell in row] for row in (names, *zip(*columns, strict=True))]
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    path.write_bytes("".join(f"{delimiter}{blanks}".join(row) + "\n" for row in rows).encode())
    table = read_table(path, keep_all=True).frame.to_pydict()
    for name, column in zip(names, columns, strict=True):
        assert [same(value) for value in table[name]] == [same(value) for value in column]


def quoted(cell):
    """Return text in quotes, a number without quotes, and an empty text for None."""
    if isinstance(cell, str):
        return '"{}"'.format(cell.replace('"', '""'))
    return "" if cell is None else str(cell)


def same(value):
    """Return a number as a float, and NaN as None."""
    if isinstance(value, int | float):
        return None if math.isnan(value) else float(value)
    return value
