"""The result of `explain`: frames, pages and rows."""

import numpy as np
import pandas as pd

import committee
from committee import Explanation


def small(name="<b>age</b>"):
    frame = pd.DataFrame({name: [1.0, 2.0, 8.0, 9.0], "other": [0.0, 1.0, 0.0, 1.0]})
    return committee.RandomForestClassifier(5, random_state=0).fit(frame, ["a", "a", "b", "b"]).explain(frame)


def test_a_frame_has_a_line_for_each_row_column_and_class():
    explanation = small("age")
    table = explanation.to_frame()
    assert list(table.columns) == ["row", "column", "class", "attribution"] and len(table) == 4 * 2 * 2
    wide = table.pivot_table("attribution", ["row", "column"], "class", sort=False)
    np.testing.assert_array_equal(wide.to_numpy().reshape(4, 2, 2), explanation.attributions)


def test_names_of_columns_are_shown_as_text():
    page = small()._repr_html_()
    assert "<b>" not in page and "&lt;b&gt;age&lt;/b&gt;" in page
    assert "age" in repr(small("age")) and "4 x 2 x 2" in repr(small("age"))


def test_rows_can_be_selected():
    explanation = small("age")
    for rows, expected in (
        (slice(1, 3), [1, 2]),
        ([3], [3]),
        (explanation.sums[:, 0] > 0.5, [0, 1]),
        (-1, [3]),
    ):
        chosen = explanation[rows]
        assert np.array_equal(chosen.attributions, explanation.attributions[expected])
        assert isinstance(chosen, Explanation) and len(chosen.data) == len(chosen) == len(expected)


def test_standard_errors_are_in_the_frame():
    found = Explanation(np.ones((1, 2)), 0.0, "target", "sampling", ("a", "b"), None, np.zeros((1, 2)))
    assert list(found.to_frame().columns) == ["row", "column", "attribution", "standard_error"]
    assert not found.is_exact and found.importances.tolist() == [1, 1]
