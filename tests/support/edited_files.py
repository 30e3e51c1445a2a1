"""Edit saved files and repair their checksums, so that only the content is invalid."""

import json

from safetensors import safe_open
from safetensors.numpy import save_file

from committee.saving.format.container import digest


def read_parts(path):
    """Return the metadata, the description and the arrays of a file, without checks."""
    with safe_open(path, framework="np") as file:
        metadata = file.metadata()
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    return metadata, json.loads(metadata["description"]), arrays


def write_parts(path, metadata, description, arrays):
    """Write a file with a valid checksum."""
    text = description if isinstance(description, str) else json.dumps(description)
    metadata = metadata | {"description": text, "sha256": digest(text, arrays)}
    save_file(arrays, path, metadata=metadata)


def change(path, edit):
    """Edit the description and the arrays of a file with a function."""
    metadata, description, arrays = read_parts(path)
    edit(description, arrays)
    write_parts(path, metadata, description, arrays)
