"""One safe file for a model: arrays in a safetensors file, a description in JSON, a checksum, and no code.

The way of a model: `model_file` saves, loads and verifies; `codec` turns its values into JSON and arrays
(`plain_values`, `model_parts`), and estimators by the names of their classes (`saved_estimators`);
`container` is the file, `file_replacement` replaces it at once. What decides of each kind of model is in
`states`.
"""

from committee.saving import model_parts
from committee.saving.format import plain_values
from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile, UntrustedMember
from committee.saving.model_file import Data, Origin, Saveable, Summary, load, save, verify
from committee.saving.predictors.file_predictor import predictor
from committee.saving.predictors.predictor import Predictor
from committee.saving.saved_estimators import saved

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
    "plain_values",
    "predictor",
    "save",
    "saved",
    "verify",
]
