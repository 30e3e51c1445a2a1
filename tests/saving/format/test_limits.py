"""Values that are refused before saving or loading, and limits of the memory that a small file can use."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import committee
from committee.saving.format.codec import LONGEST_PART, MOST_PADDING, Decoder, Encoder, join
from committee.saving.format.file_errors import DamagedFile


@pytest.mark.parametrize("model", [[1, 2], LogisticRegression, None])
def test_only_estimators_are_saved(model, tmp_path):
    with pytest.raises(TypeError, match="Only estimators can be saved"):
        committee.save(model, tmp_path / "model.committee")
    assert not list(tmp_path.iterdir())


def test_trust_must_be_a_list(tmp_path):
    with pytest.raises(TypeError, match=r"Use trusted=\['lightgbm'\]"):
        committee.load(tmp_path / "model.committee", trusted="lightgbm")


def test_a_few_long_texts_among_many_short_ones_are_refused():
    n_texts = 5000
    longest = MOST_PADDING // n_texts + 2
    texts = ["x" * longest, *[""] * n_texts]
    written = {"strings": {"dtype": f"<U{longest}", "shape": [n_texts + 1], "values": texts}}
    with pytest.raises(DamagedFile, match="of very different lengths"):
        Decoder({}).value(written, "labels")
    with pytest.raises(TypeError, match="of very different lengths"):
        Encoder().value(np.array(texts), "labels")


def test_padding_is_counted_over_the_whole_file():
    width = MOST_PADDING // 200
    written = {"strings": {"dtype": f"<U{width}", "shape": [101], "values": ["x" * width, *[""] * 100]}}
    decoder = Decoder({})
    decoder.value(written, "labels")
    with pytest.raises(DamagedFile, match="of very different lengths"):
        decoder.value([written, written], "labels")


def test_a_path_cuts_long_names():
    assert join("", "n" * 10_000) == "n" * LONGEST_PART
    assert join("a", 3) == "a__3"


def test_a_predictor_of_a_median_needs_rows():
    booster = committee.AdaBoostRegressor(n_estimators=3, random_state=0)
    booster.fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="There are no rows"):
        booster.predictor().predict(np.empty((0, 1)))
