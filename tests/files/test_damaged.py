"""A damaged file returns a table or raises an error of one line. It never crashes the process."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from committee.files import BadTable, read_table

N_DAMAGES = 40
TABLE = pa.table(
    {
        "a": [1.5, None, 3.0] * 10,
        "b": ["x", "y z", None] * 10,
        "c": [True, False, None] * 10,
        "d": pa.array(["x", "y", "y"] * 10).dictionary_encode(),
    }
)
INSERTED = np.frombuffer(b"\"',;\n\r\\{}@%0.\0\xff", dtype=np.uint8)


def written(path):
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        pa.parquet.write_table(TABLE, path)
    elif name.endswith(".feather"):
        pa.feather.write_feather(TABLE, path, compression="uncompressed")
    elif name.endswith(".arrows"):
        with pa.ipc.new_stream(str(path), TABLE.schema) as stream:
            stream.write_table(TABLE)
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))
    elif name.endswith(".arff"):
        path.write_text("@relation r\n@attribute 'a b' real\n@attribute c {x,'y z'}\n@data\n1,x\n?,'y z'\n")
    else:
        path.write_text("a,b,c\n" + '1.5,"x, ""y""",true\nNA,z,false\n' * 10)
    return gzip.compress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def damaged(content, rng):
    """Change, insert or delete some bytes, or cut off the end."""
    start, end = np.sort(rng.integers(0, len(content), 2))
    match rng.integers(4):
        case 0:
            changed = np.frombuffer(content, dtype=np.uint8).copy()
            changed[rng.integers(0, len(content), 3)] = rng.integers(0, 256, 3)
            return changed.tobytes()
        case 1:
            return content[:start] + rng.choice(INSERTED, 4).tobytes() + content[start:]
        case 2:
            return content[:start] + content[end:]
        case _:
            return content[:start]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "feather", "arrows", "jsonl", "arff"])
def test_a_damaged_file_returns_a_table_or_raises_an_error_of_one_line(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    content, rng = written(path), np.random.default_rng(0)
    for _ in range(N_DAMAGES):
        path.write_bytes(damaged(content, rng))
        try:
            read_table(path)
        except (BadTable, OSError) as error:
            assert "\n" not in str(error)
