"""Test that files are read from and written to URLs, on a local server."""

import gzip
import io

import pyarrow as pa
import pyarrow.parquet
import pytest
from file_server import serving

from committee.files import BadTable, read_table, write_file
from committee.files.remote_files import exists, name_of_url

CSV = b"a,b\n1,x\n2,y\n"


def packed(table):
    file = io.BytesIO()
    pa.parquet.write_table(table, file)
    return file.getvalue()


@pytest.fixture
def files():
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    return {
        "/bucket/t.csv": CSV,
        "/bucket/t.csv.gz": gzip.compress(CSV),
        "/bucket/t.parquet": packed(table),
        "/bucket/cut.csv": CSV,
    }


@pytest.fixture
def host(files):
    with serving(files) as host:
        yield host


def s3(host, path):
    return f"s3://key:secret@{path}?scheme=http&endpoint_override={host}&region=eu-west-1"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
@pytest.mark.parametrize("scheme", ["http", "s3", "file"])
def test_a_table_is_read_from_a_url(host, files, tmp_path, scheme, name):
    (tmp_path / name).write_bytes(files[f"/bucket/{name}"])
    url = {
        "http": f"http://{host}/bucket/{name}?version=1",
        "s3": s3(host, f"bucket/{name}"),
        "file": (tmp_path / name).as_uri(),
    }[scheme]
    frame = read_table(url).frame
    assert frame["a"].to_pylist() == [1, 2] and frame["b"].to_pylist() == ["x", "y"]


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.jsonl.gz"])
@pytest.mark.parametrize("scheme", ["s3", "file"])
def test_a_table_is_written_to_a_url(host, tmp_path, scheme, name):
    url = s3(host, f"bucket/{name}") if scheme == "s3" else (tmp_path / name).as_uri()
    assert not exists(url)
    frame = pa.table({"a": [1, 2], "b": ["x", "y"]})
    write_file(frame, url)
    assert exists(url)
    assert read_table(url).frame["a"].to_pylist() == [1, 2]


def test_errors_name_the_url_without_credentials(host):
    for url in (f"http://user:secret@{host}/bucket/no.csv", s3(host, "bucket/no.csv")):
        with pytest.raises(FileNotFoundError) as error:
            read_table(url)
        assert str(error.value) == f"There is no file {name_of_url(url)}."
        assert "secret" not in str(error.value)


def test_a_download_that_is_cut_off_is_an_error(host):
    with pytest.raises(
        OSError, match=r"bucket/cut\.csv cannot be read: the connection ended after 9 of 12 bytes"
    ):
        read_table(f"http://{host}/bucket/cut.csv")


def test_a_server_that_does_not_answer_is_an_error():
    with serving({}) as host:
        pass
    with pytest.raises(OSError, match=rf"http://{host}/t\.csv cannot be read: .*refused"):
        read_table(f"http://{host}/t.csv")


def test_an_unknown_scheme_and_an_output_to_the_web_are_errors(host):
    with pytest.raises(BadTable, match="A URL begins with http, https, s3"):
        read_table("gopher://host/t.csv")
    with pytest.raises(BadTable, match="http and https are only read"):
        write_file(pa.table({"a": [1]}), f"http://{host}/p.csv")
