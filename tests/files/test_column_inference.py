"""What a column is taken for, by its name and its values."""

import pyarrow as pa
import pytest

from committee.files.column_inference import guess


def test_sorted_text_is_a_category_however_long_the_table():
    column = pa.array([f"u{i // 3}" for i in range(300_000)])
    for each in (column, column.dictionary_encode(), pa.chunked_array([column[:7], column[7:]])):
        found = guess("shop", each)
        assert found.kind.value == "category" and found.n_distinct == 100_000


@pytest.mark.parametrize("name", ["amount_paid", "bid", "covid", "COVID", "monkey", "arrow"])
def test_names_that_end_like_an_id_are_no_ids(name):
    assert guess(name, pa.array([7 * i % 101 for i in range(30)])).kind.value == "number"


@pytest.mark.parametrize("name", ["id", "ID", "user_id", "User ID", "userId", "userID", "Row", "Unnamed: 0"])
def test_different_integers_that_are_called_an_id_are_one(name):
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
def test_the_value_is_named_that_makes_text_of_numbers_or_dates(texts, what):
    texts[6] = "many"
    for column in (pa.array(texts), pa.array(texts).dictionary_encode()):
        found = guess("price", column)
        assert found.kind.value == "id"
        assert found.why == found.stray == f"row 7 has 'many', and nearly all other values are {what}"


def test_a_value_is_a_stray_by_its_rows_however_few_values_there_are():
    column = pa.chunked_array([["1", "2"] * 50, ["2", None, "many"]])
    for each in (column, column.dictionary_encode()):
        assert guess("n", each).stray == "row 103 has 'many', and nearly all other values are numbers"


def test_a_value_is_no_stray_among_others_like_it():
    assert guess("size", pa.array(["many", "few", *map(str, range(30))])).stray == ""
    assert guess("size", pa.array(["1", "2", "many"] * 30)).stray == ""
    assert guess("zip", pa.array(["01067", *(str(10115 + i) for i in range(60))])).stray == ""
    assert guess("zip", pa.array([f"{i:05d}" for i in range(60)])).stray == ""
