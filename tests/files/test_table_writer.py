"""Tables are written atomically."""

import pyarrow as pa
import pyarrow.csv
import pytest

from committee.files import BadTable, read_table, write_file

TABLE = pa.table({"y": ["no", "yes, surely"], "p": [0.25, 0.5]})


@pytest.mark.parametrize("packed", ["", ".gz", ".bz2", ".zst", ".lz4", ".br"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "feather", "jsonl"])
def test_a_written_table_can_be_read(tmp_path, suffix, packed):
    path = tmp_path / f"t.{suffix}{packed}"
    write_file(TABLE, path)
    assert read_table(path).frame.to_pydict() == TABLE.to_pydict()
    if suffix == "csv" and packed != ".br":
        assert pa.csv.read_csv(path).to_pydict() == TABLE.to_pydict()


def test_the_standard_output_is_csv_or_json(capsys):
    write_file(TABLE, "-")
    assert capsys.readouterr().out == '"y","p"\n"no",0.25\n"yes, surely",0.5\n'
    write_file(TABLE, "-", as_json=True)
    assert capsys.readouterr().out == '{"y": "no", "p": 0.25}\n{"y": "yes, surely", "p": 0.5}\n'


def test_an_unknown_suffix_raises_and_writes_nothing(tmp_path):
    with pytest.raises(BadTable, match="cannot be written"):
        write_file(TABLE, tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_existing_file_unchanged(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("before")
    with pytest.raises(pa.ArrowInvalid):
        write_file(pa.table({"lists": [[1]]}), path)
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["t.csv"]


def test_a_missing_folder_raises(tmp_path):
    with pytest.raises(OSError, match="There is no folder"):
        write_file(TABLE, tmp_path / "nowhere" / "t.csv")
