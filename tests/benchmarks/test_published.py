"""Published means become further columns of a study's comparison."""

import numpy as np
import pytest
from study_cases import small_learners, small_tables

from committee import Study
from published import with_published


def test_published_accuracies_are_next_to_those_of_the_study(tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text("dataset,RotF,C4.5\ntwo,0.75,0.5\ntrois,0.625,\nfour,0.9,0.8\n")
    compared = Study(small_learners(), small_tables(), resamples=2, cv=None).run().compare("accuracy")
    found = with_published(compared, path, ["RotF"], {"three": "trois"})
    assert found.learners == ("stump", "tree", "forest", "RotF (paper)")
    assert found.scores[:, 3].tolist() == [0.75, 0.625]
    np.testing.assert_array_equal(found.scores[:, :3], compared.scores)
    assert np.isnan(found.fit_seconds[:, 3]).all()
    with pytest.raises(ValueError, match="needs the scores of resamples"):
        found.resampled_t("tree", "RotF (paper)")
    both = with_published(compared, path, ["RotF", "C4.5"], {"three": "trois"})
    assert both.tables == ("two",)
    assert both.left_out == {"three": "not in the paper"}
