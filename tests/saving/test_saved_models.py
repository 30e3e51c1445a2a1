"""Files of every format version load and give the predictions of the time when they were saved."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import committee

FOLDER = Path(__file__).parents[1] / "saved_models"
FILES = sorted(FOLDER.glob("version_*/*.committee"))


def make_module():
    """Import the script that made the files."""
    specification = importlib.util.spec_from_file_location("make_saved_models", FOLDER / "make.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


MAKER = make_module()


def numbers(rows):
    return np.array([[float.fromhex(each) for each in row] for row in rows])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_saved_model_gives_the_same_predictions_as_before(path):
    frame = MAKER.table()
    expected = json.loads(path.with_suffix(".json").read_text())
    committee.verify(path)
    loaded = committee.load(path)
    tolerance = 1e-9 if path.stem in MAKER.ROUNDED else 0
    np.testing.assert_allclose(numbers(MAKER.decisions(loaded, frame)), numbers(expected), rtol=tolerance)
    rows = json.loads(frame.to_json(orient="records", date_format="iso"))
    predictor = committee.predictor(path)
    found = predictor.predict_proba(rows) if hasattr(predictor, "predict_proba") else predictor.predict(rows)
    np.testing.assert_allclose(found.reshape(len(rows), -1), numbers(expected), rtol=tolerance)


def test_every_public_estimator_has_a_small_file():
    found = {path.stem for path in FILES if path.parent.name == f"version_{MAKER.VERSION}"}
    public = {name for name in committee.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert found == public | MAKER.SPECIAL.keys()
    assert all(path.stat().st_size < 24_000 for path in FILES)
