"""Files of every version of the format are read, and answer what they did when they were made."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import committee

FOLDER = Path(__file__).parents[1] / "saved_models"
FILES = sorted(FOLDER.glob("version_*/*.committee"))


def maker():
    """The script that made the files."""
    specification = importlib.util.spec_from_file_location("make_saved_models", FOLDER / "make.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


MADE = maker()


def numbers(rows):
    return np.array([[float.fromhex(each) for each in row] for row in rows])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_saved_model_answers_what_it_did(path):
    frame = MADE.table()
    expected = json.loads(path.with_suffix(".json").read_text())
    committee.verify(path)
    loaded = committee.load(path)
    tolerance = 1e-9 if path.stem in MADE.ROUNDED else 0
    np.testing.assert_allclose(numbers(MADE.answers(loaded, frame)), numbers(expected), rtol=tolerance)
    if path.stem.startswith(MADE.LOOK_AT_ROWS):
        return
    rows = json.loads(frame.to_json(orient="records", date_format="iso"))
    predictor = committee.predictor(path)
    found = predictor.predict_proba(rows) if hasattr(predictor, "predict_proba") else predictor.predict(rows)
    np.testing.assert_allclose(found.reshape(len(rows), -1), numbers(expected), rtol=tolerance)


def test_every_public_estimator_has_a_small_file():
    here = {path.stem for path in FILES if path.parent.name == f"version_{MADE.VERSION}"}
    public = {name for name in committee.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert here == public | MADE.SPECIAL.keys()
    assert all(path.stat().st_size < 24_000 for path in FILES)
