"""The kind of a column is inferred from its name and its values."""

import pyarrow as pa
import pytest

from committee.files.column_inference import guess


def test_sorted_text_is_a_category_in_a_long_table():
    column = pa.array([f"u{i // 3}" for i in range(300_000)])
    for each in (column, column.dictionary_encode(), pa.chunked_array([column[:7], column[7:]])):
        found = guess("shop", each)
        assert found.kind.value == "category" and found.n_distinct == 100_000


@pytest.mark.parametrize("name", ["amount_paid", "bid", "covid", "COVID", "monkey", "arrow"])
def test_names_with_the_letters_of_an_id_at_the_end_are_not_ids(name):
    assert guess(name, pa.array([7 * i % 101 for i in range(30)])).kind.value == "number"


@pytest.mark.parametrize("name", ["id", "ID", "user_id", "User ID", "userId", "userID", "Row", "Unnamed: 0"])
def test_distinct_integers_with_the_name_of_an_id_are_an_id(name):
    assert guess(name, pa.array([7 * i % 101 for i in range(30)])).kind.value == "id"


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ([f"{i}.25" for i in range(30)], "numbers"),
        ([f"-{i},5" for i in range(30)], "numbers"),
        ([f"{i}e-3" for i in range(30)], "numbers"),
        ([f"2024-01-{i + 1:02d}" for i in range(30)], "dates"),
        ([f"2024-01-{i + 1:02d} 10:30" for i in range(30)], "dates"),
    ],
)
def test_a_stray_value_among_numbers_or_dates_is_reported(texts, what):
    texts[6] = "many"
    for column in (pa.array(texts), pa.array(texts).dictionary_encode()):
        found = guess("price", column)
        assert found.kind.value == "id"
        assert found.why == found.stray == f"row 7 has 'many', but nearly all other values are {what}"


def test_strays_are_found_by_their_share_of_rows_instead_of_values():
    column = pa.chunked_array([["1", "2"] * 50, ["2", None, "many"]])
    for each in (column, column.dictionary_encode()):
        assert guess("n", each).stray == "row 103 has 'many', but nearly all other values are numbers"


def test_values_of_a_column_of_text_or_codes_are_not_strays():
    assert guess("size", pa.array(["many", "few", *map(str, range(30))])).stray == ""
    assert guess("size", pa.array(["1", "2", "many"] * 30)).stray == ""
    assert guess("zip", pa.array(["01067", *(str(10115 + i) for i in range(60))])).stray == ""
    assert guess("zip", pa.array([f"{i:05d}" for i in range(60)])).stray == ""
