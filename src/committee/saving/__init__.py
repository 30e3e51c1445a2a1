"""One safe file for a model: arrays in a safetensors file, a description in JSON, a checksum, and no code.

The way of a model: `file` saves, loads and verifies; `codec` turns its values into JSON and arrays (`plain`,
`models`), and estimators by the names of their classes (`estimators`); `container` is the file, `writing`
replaces it at once. What decides of each kind of model is in `states`.
"""

from committee.saving import models, plain
from committee.saving.errors import DamagedFile, UntrustedMember
from committee.saving.estimators import saved
from committee.saving.fields import Fields
from committee.saving.file import Summary, load, save, verify
from committee.saving.predictors.predictor import Predictor
from committee.saving.predictors.preparing import predictor
from committee.saving.saveable import Data, Origin, Saveable

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
    "models",
    "plain",
    "predictor",
    "save",
    "saved",
    "verify",
]
