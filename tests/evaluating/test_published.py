"""Published results stand beside ours."""

import numpy as np
import pytest

from committee.evaluating import Study, read_published
from studies import small_learners, small_tables


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some_study_ACC.csv"
    path.write_text("dataset,RotF,C4.5\ntwo,0.75,0.5\ntrois,0.625,\nfour,0.9,0.8\n")
    return path


def test_accuracies_become_errors_and_names_are_mapped(file):
    found = read_published(file, names={"three": "trois"})
    assert found.metric == "error" and found.learners == ("RotF (paper)", "C4.5 (paper)")
    assert found.scores["two"].tolist() == [0.25, 0.5]
    np.testing.assert_allclose(found.scores["three"], [0.375, np.nan])


def test_ours_and_theirs_stand_in_one_comparison(file):
    study = Study(small_learners(), small_tables(), resamples=2, cv=None).run()
    theirs = read_published(file, learners=["RotF"], names={"three": "trois"})
    compared = study.compare("error", published=theirs)
    assert compared.learners == ("stump", "tree", "forest", "RotF (paper)")
    assert compared.scores[:, 3].tolist() == [0.25, 0.375]
    assert np.isnan(compared.seconds[:, 3]).all()
    with pytest.raises(ValueError, match="are means, without resamples"):
        compared.resampled_t("tree", "RotF (paper)")


def test_tables_that_are_not_published_are_left_out(file):
    study = Study(small_learners(), small_tables(), resamples=1, cv=None).run()
    compared = study.compare("error", published=read_published(file, names={"three": "trois"}))
    assert compared.tables == ("two",)
    assert compared.left_out == {"three": "not among the published results"}


def test_published_bits_become_a_log_loss(tmp_path):
    path = tmp_path / "x_NLL.csv"
    path.write_text("dataset,a\ntwo,1.0\n")
    assert read_published(path).scores["two"].round(4).tolist() == [0.6931]


@pytest.mark.parametrize(
    ("name", "text", "given", "message"),
    [
        ("x.csv", "dataset,a\n", {}, "ends with none of _ACC"),
        ("x_ACC.csv", "dataset,a\n", {"learners": ["b"]}, "has no column 'b'. It has a"),
        ("x_ACC.csv", "dataset,a\ntwo,much\n", {}, "line 2: there is no number"),
        ("x_ACC.csv", "", {}, "has no header"),
        ("x_ACC.csv", "dataset,a,a\n", {}, "has two columns 'a'. Give one of them another name"),
    ],
)
def test_files_that_cannot_be_read_are_told(tmp_path, name, text, given, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_published(tmp_path / name, **given)


def test_two_papers_with_a_learner_of_one_name_are_told_apart_by_their_marks(file):
    study = Study(small_learners(), small_tables(), resamples=1, cv=None).run()
    once, again = (read_published(file, learners=["RotF"], mark=mark) for mark in ("paper", "other"))
    assert study.compare("error", published=[once, again]).learners[3:] == ("RotF (paper)", "RotF (other)")
    with pytest.raises(ValueError, match=r"Two learners of a comparison are named 'RotF \(paper\)'"):
        study.compare("error", published=[once, once])


def test_results_of_another_metric_do_not_stand_in_a_comparison(file):
    study = Study(small_learners(), small_tables(), resamples=1, cv=None).run()
    with pytest.raises(ValueError, match="Published results are by 'error', and the metric is 'auc'"):
        study.compare("auc", published=read_published(file))
