"""Saved files changed on purpose, their checksums mended, so that only what is inside is wrong."""

import json

from safetensors import safe_open
from safetensors.numpy import save_file

from committee.saving.format.container import digest


def read_parts(path):
    """The metadata, the description and the arrays of a file, unchecked."""
    with safe_open(path, framework="np") as file:
        metadata = file.metadata()
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    return metadata, json.loads(metadata["description"]), arrays


def write_parts(path, metadata, description, arrays):
    """Write a file whose checksum fits, whatever else does not."""
    text = description if isinstance(description, str) else json.dumps(description)
    metadata = metadata | {"description": text, "sha256": digest(text, arrays)}
    save_file(arrays, path, metadata=metadata)


def change(path, edit):
    """Let `edit` change the description and the arrays of a file."""
    metadata, description, arrays = read_parts(path)
    edit(description, arrays)
    write_parts(path, metadata, description, arrays)
