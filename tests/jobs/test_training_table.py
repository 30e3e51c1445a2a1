"""Test how training tables are read, and which notes and errors they give."""

import pyarrow as pa
import pytest

from committee.files import BadTable
from committee.jobs.training_table import read_training_table

SIZES = [(7 * i) % 40 / 4 for i in range(60)]


def training(target="y", task=None, weights=None, groups=None, **columns):
    table = {"size": SIZES, "y": [i % 2 for i in range(60)], **columns}
    return read_training_table(pa.table(table), target, task, None, groups, weights)


def with_stray(values, stray="many"):
    return [*map(str, values[:7]), stray, *map(str, values[8:])]


def test_a_value_that_makes_a_column_of_numbers_text_is_reported():
    reason = (
        "row 8 has 'many', but nearly all other values are numbers. Correct it, or give the column a type, "
        "which makes it missing: "
    )
    prices = with_stray([i / 8 for i in range(60)])
    assert training(price=prices).notes == (f"Column 'price' is left out: {reason}price=number.",)
    ages = with_stray([i % 30 for i in range(60)])
    assert training(age=ages).notes == (f"Column 'age' is read as a category: {reason}age=number.",)
    found = training("age", age=ages)
    assert (
        found.task == "classification"
        and f"Column 'age' is read as a category: {reason}age=number." in found.notes
    )


def test_groups_may_be_numbers_and_words():
    assert training(groups="patient", patient=with_stray([i % 30 for i in range(60)])).notes == ()


def test_an_error_shows_the_value_that_is_not_a_number():
    prices = with_stray([i / 8 for i in range(60)])
    with pytest.raises(BadTable, match="'price' contains text, such as 'many', but regression needs numbers"):
        training("price", "regression", price=prices)
    with pytest.raises(
        BadTable, match="'price' should contain the weights, but contains text, such as 'many'"
    ):
        training(weights="price", price=prices)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([f"word {i}" for i in range(60)], "a different text in every row."),
        ([f"these are all {i} words" for i in range(60)], "prose, different in most rows."),
    ],
)
def test_a_useless_type_is_not_suggested(values, words):
    assert training(v=values).notes == (f"Column 'v' is left out: {words}",)


def test_formats_of_dates_whose_order_is_not_clear_are_suggested():
    days = [f"{i % 12 + 1:02}/{i % 9 + 1:02}/{2000 + i}" for i in range(60)]
    unclear = "it looks like a date whose order is not clear. Give it a type with a format"
    both = "day=date:%m/%d/%Y or day=date:%d/%m/%Y"
    assert training(day=days).notes == (f"Column 'day' is left out: {unclear}: {both}.",)
    repeated = [days[i % 9] for i in range(60)]
    assert training(day=repeated).notes == (f"Column 'day' is read as a category: {unclear}: {both}.",)
    days[3] = "01/31/2003"
    clear = "it looks like a date. Give it a type with a format: day=date:%m/%d/%Y."
    assert training(day=days).notes == (f"Column 'day' is left out: {clear}",)
