"""The tables of a study: none of a folder is lost without a word."""

import pytest

from committee.files import BadTable
from committee.jobs.study_job import TableFile, find_tables


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "iris.csv").write_text("a,y\n1,0\n2,1\n")
    return tmp_path


def test_two_tables_of_one_name_in_a_folder_are_an_error(folder):
    (folder / "iris.tsv").write_text("a\ty\n1\t0\n2\t1\n")
    with pytest.raises(BadTable, match=r"Two tables are named 'iris': .*iris\.csv and .*iris\.tsv\."):
        find_tables([str(folder)], None)
    (folder / "manifest.csv").write_text("name,target\niris,y\n")
    with pytest.raises(BadTable, match=r"Two tables are named 'iris': .*iris\.csv and .*iris\.tsv\."):
        find_tables([str(folder)], None)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("iris,y\nirsi,y", "names 'irsi', and there is no such table in its folder. Did you mean 'iris'"),
        ("wine,y", "names 'wine', and there is no such table in its folder. It has iris."),
        ("iris", "names no target of 'iris'. Add it, or pass --target."),
        ("iris,", "names no target of 'iris'. Add it, or pass --target."),
        ("iris,y\niris,a", "Two tables are named 'iris'"),
    ],
)
def test_a_manifest_that_is_wrong_is_an_error(folder, rows, fault):
    (folder / "manifest.csv").write_text(f"name,target\n{rows}\n")
    with pytest.raises(BadTable) as caught:
        find_tables([str(folder)], None)
    assert fault in str(caught.value)


def test_a_target_that_is_told_needs_none_in_the_manifest(folder):
    (folder / "manifest.csv").write_text("name,target\niris\n")
    assert find_tables([str(folder)], "y") == {"iris": TableFile(str((folder / "iris.csv").resolve()), "y")}
