"""Test how studies find their tables in folders and manifests."""

import pytest

from committee.files import BadTable
from committee.jobs.study_job import TableFile, find_tables


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "iris.csv").write_text("a,y\n1,0\n2,1\n")
    return tmp_path


def test_two_tables_with_the_same_name_are_an_error(folder):
    (folder / "iris.tsv").write_text("a\ty\n1\t0\n2\t1\n")
    with pytest.raises(BadTable, match=r"Two tables are named 'iris': .*iris\.csv and .*iris\.tsv\."):
        find_tables([str(folder)], None)
    (folder / "manifest.csv").write_text("name,target\niris,y\n")
    with pytest.raises(BadTable, match=r"Two tables are named 'iris': .*iris\.csv and .*iris\.tsv\."):
        find_tables([str(folder)], None)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("iris,y\nirsi,y", "names 'irsi', but there is no such table in its folder. Did you mean 'iris'"),
        ("wine,y", "names 'wine', but there is no such table in its folder. It has iris."),
        ("iris", "has no target for 'iris'. Add it, or pass --target."),
        ("iris,", "has no target for 'iris'. Add it, or pass --target."),
        ("iris,y\niris,a", "Two tables are named 'iris'"),
    ],
)
def test_a_wrong_manifest_is_an_error(folder, rows, message):
    (folder / "manifest.csv").write_text(f"name,target\n{rows}\n")
    with pytest.raises(BadTable) as caught:
        find_tables([str(folder)], None)
    assert message in str(caught.value)


def test_a_given_target_replaces_that_of_the_manifest(folder):
    (folder / "manifest.csv").write_text("name,target\niris\n")
    assert find_tables([str(folder)], "y") == {"iris": TableFile(str((folder / "iris.csv").resolve()), "y")}
