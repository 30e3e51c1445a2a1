"""Save a model as one safe file: arrays in safetensors format, a description in JSON, a checksum, no code.

`model_file` saves, loads and verifies models. `codec` converts their values to JSON and arrays
(`plain_values`, `model_parts`) and describes estimators by the names of their classes (`saved_estimators`).
`container` reads and writes the file, and `file_replacement` replaces it atomically. `states` reads the
fields of a file that predictions depend on.
"""

from committee.saving import model_parts
from committee.saving.format import plain_values
from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile, UntrustedMember
from committee.saving.model_file import Data, Origin, Saveable, Summary, load, origin_of, save, verify
from committee.saving.predictors.file_predictor import predictor
from committee.saving.predictors.predictor import Predictor

__all__ = [
    "DamagedFile",
    "Data",
    "Fields",
    "Origin",
    "Predictor",
    "Saveable",
    "Summary",
    "UntrustedMember",
    "load",
    "model_parts",
    "origin_of",
    "plain_values",
    "predictor",
    "save",
    "verify",
]
