"""The codec's form of numpy's RandomState: apart, because a predictor need not wait for numpy.random."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.saving.codec import Decoder, Encoder, Json, refuse
from committee.saving.errors import require
from committee.saving.plain import with_keys, write_float


def write(value: Any, encoder: Encoder, path: str) -> Json:
    """The generator as it stands, so that it goes on with what it would have drawn."""
    if type(value) is not np.random.RandomState:
        return refuse(value, encoder, path)
    state = value.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        return refuse(value, encoder, path)
    return {
        "random_state": {
            "key": encoder.put(state["state"]["key"].copy(), path),
            "position": int(state["state"]["pos"]),
            "has_gauss": int(state["has_gauss"]),
            "gauss": write_float(float(state["gauss"]), encoder, path),
        }
    }


def read(written: Json, decoder: Decoder, path: str) -> np.random.RandomState:
    """A Mersenne twister of 624 words."""
    body = with_keys(written["random_state"], {"key", "position", "has_gauss", "gauss"}, path)
    key = decoder.take(body["key"], path)
    require(key.dtype == np.uint32 and key.shape == (624,), f"{path}: a random state has 624 words")
    position, has_gauss, gauss = body["position"], body["has_gauss"], decoder.value(body["gauss"], path)
    require(type(position) is int and 0 <= position <= 624, f"{path}: a random state is out of its words")
    require(has_gauss in (0, 1) and type(gauss) is float, f"{path}: a random state has no normal number")
    generator = np.random.RandomState()
    generator.set_state(("MT19937", key, position, has_gauss, gauss))
    return generator
