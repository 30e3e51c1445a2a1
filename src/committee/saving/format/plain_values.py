"""The codec's forms of plain values: Python's own and numpy's."""

from __future__ import annotations

import math

import numpy as np

from committee.saving.format.codec import (
    MOST_PADDING,
    READERS,
    WRITERS,
    WRITERS_BY_LIBRARY,
    Decoder,
    Encoder,
    Json,
    join,
    refuse,
)
from committee.saving.format.container import DTYPES
from committee.saving.format.file_errors import DamagedFile, require

WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
# The kinds of dtype that may stand in a file: booleans, numbers, text, dates and spans.
SCALAR_KINDS, LABEL_KINDS, DATE_KINDS = "biufUmM", "U", "mM"
BUILT_IN_TYPES = {"bool": bool, "int": int, "float": float, "str": str, "object": object}


def write_float(value: float, encoder: Encoder, path: str) -> Json:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else {"float": str(value)}


def read_float(written: Json, decoder: Decoder, path: str) -> float:
    """One of three words."""
    word = written["float"]
    require(isinstance(word, str) and word in WORDS, f"{path}: {word!r} is no float")
    return WORDS[word]


def write_list(value: list[object], encoder: Encoder, path: str) -> Json:
    """Item by item."""
    return [encoder.value(each, join(path, i)) for i, each in enumerate(value)]


def read_list(written: Json, decoder: Decoder, path: str) -> list[object]:
    """What must be a list."""
    require(isinstance(written, list), f"{path} is not a list")
    return decoder.value(written, path)


def write_dict(value: dict[object, object], encoder: Encoder, path: str) -> Json:
    """As pairs: keys need not be text."""
    return {
        "dict": [
            [encoder.value(key, join(path, key)), encoder.value(each, join(path, key))]
            for key, each in value.items()
        ]
    }


def read_dict(written: Json, decoder: Decoder, path: str) -> dict[object, object]:
    """From pairs of different keys."""
    pairs = written["dict"]
    require(
        isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs),
        f"{path} is not made of pairs",
    )
    keys = [decoder.value(key, path) for key, _ in pairs]
    values = [decoder.value(value, join(path, str(key))) for key, (_, value) in zip(keys, pairs, strict=True)]
    try:
        found = dict(zip(keys, values, strict=True))
    except TypeError as error:
        raise DamagedFile(f"{path} has a key that cannot be one.") from error
    require(len(found) == len(pairs), f"{path} has one key twice")
    return found


def write_array(value: np.ndarray, encoder: Encoder, path: str) -> Json:
    """Numbers go to the arrays of the file; labels stay, for they have no size of their own."""
    if type(value) is not np.ndarray:
        return refuse(value, encoder, path)
    if value.dtype.kind in DATE_KINDS:
        dates = {"dtype": value.dtype.str, "values": write_array(value.view(np.int64), encoder, path)}
        return {"dates": dates}
    if value.dtype.kind == "U":
        texts = value.ravel().tolist()
        if not allows_padding(encoder, texts, value.dtype):
            raise TypeError(f"{path} is text of very different lengths. Convert it to objects to save it.")
        return {"strings": {"dtype": value.dtype.str, "shape": list(value.shape), "values": texts}}
    if value.dtype == object:
        items = write_list(value.ravel().tolist(), encoder, path)
        return {"objects": {"shape": list(value.shape), "values": items}}
    native = value.astype(value.dtype.newbyteorder("="), copy=False)
    if native.dtype not in DTYPES:
        raise TypeError(f"{path} is an array of dtype {value.dtype}, which cannot be saved. Convert it.")
    # Which way a matrix lies in memory may change the last bits of what is computed from it.
    if native.flags.f_contiguous and not native.flags.c_contiguous:
        return {"transposed": encoder.put(np.ascontiguousarray(native.T), path)}
    # `ascontiguousarray` would make a vector of a single number.
    return {"array": encoder.put(native if native.flags.c_contiguous else native.copy(order="C"), path)}


def read_dates(written: Json, decoder: Decoder, path: str) -> np.ndarray:
    """Integers that count units of time."""
    body = with_keys(written["dates"], {"dtype", "values"}, path)
    values = decoder.value(body["values"], path)
    require(isinstance(values, np.ndarray) and values.dtype == np.int64, f"{path}: dates are not int64")
    return values.view(checked_dtype(body["dtype"], DATE_KINDS, path))


def read_strings(written: Json, decoder: Decoder, path: str) -> np.ndarray:
    """Text of a fixed width."""
    body = with_keys(written["strings"], {"dtype", "shape", "values"}, path)
    values, dtype = body["values"], checked_dtype(body["dtype"], LABEL_KINDS, path)
    require(
        isinstance(values, list) and all(isinstance(each, str) for each in values), f"{path} is not all text"
    )
    widest = max(map(len, values), default=0)
    require(dtype.itemsize // 4 <= 2 * widest + 64, f"{path}: the text is narrower than it says")
    require(dtype.itemsize // 4 >= widest, f"{path}: the text is wider than it says")
    require(allows_padding(decoder, values, dtype), f"{path}: the text is of very different lengths")
    return shaped(np.array(values, dtype=dtype), body["shape"], path)


def allows_padding(codec: Encoder | Decoder, texts: list[str], dtype: np.dtype) -> bool:
    """Whether texts may take a common width: else a small file could take much memory."""
    codec.padding += len(texts) * (dtype.itemsize // 4) - sum(map(len, texts))
    return codec.padding <= MOST_PADDING


def read_objects(written: Json, decoder: Decoder, path: str) -> np.ndarray:
    """Python objects, each a value of the codec."""
    body = with_keys(written["objects"], {"shape", "values"}, path)
    values = read_list(body["values"], decoder, path)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return shaped(array, body["shape"], path)


def shaped(array: np.ndarray, shape: Json, path: str) -> np.ndarray:
    """An array in the shape that the file gives it."""
    is_shape = isinstance(shape, list) and len(shape) <= 4 and all(type(n) is int and n >= 0 for n in shape)
    require(is_shape and math.prod(shape) == array.size, f"{path} has not the shape {shape}")
    return array.reshape(shape)


def write_scalar(value: np.generic, encoder: Encoder, path: str) -> Json:
    """A number of numpy with its dtype."""
    if value.dtype.kind not in SCALAR_KINDS or (value.dtype.itemsize > 8 and value.dtype.kind == "f"):
        return refuse(value, encoder, path)
    plain = value.view(np.int64).item() if value.dtype.kind in DATE_KINDS else value.item()
    return {"scalar": [value.dtype.str, encoder.value(plain, path)]}


def read_scalar(written: Json, decoder: Decoder, path: str) -> object:
    """A number of numpy."""
    pair = written["scalar"]
    require(isinstance(pair, list) and len(pair) == 2, f"{path} is not a scalar")
    dtype, value = checked_dtype(pair[0], SCALAR_KINDS, path), decoder.value(pair[1], path)
    expected = {"b": bool, "i": int, "u": int, "f": float, "U": str, "m": int, "M": int}[dtype.kind]
    require(type(value) is expected, f"{path}: {value!r} is not of dtype {dtype}")
    require(dtype.kind != "U" or dtype.itemsize == 4 * len(value), f"{path}: the text has not its width")
    try:
        if dtype.kind in DATE_KINDS:
            return np.array([value], dtype=np.int64).view(dtype)[0]
        return dtype.type(value)
    except OverflowError as error:
        raise DamagedFile(f"{path}: {value!r} is not of dtype {dtype}.") from error


def write_dtype(value: np.dtype, encoder: Encoder, path: str) -> Json:
    """By its name."""
    if value.kind not in SCALAR_KINDS + "O":
        return refuse(value, encoder, path)
    return {"dtype": value.str}


def write_type(value: type, encoder: Encoder, path: str) -> Json:
    """A type that numbers are made of: `float`, `numpy.float32`. All others are code."""
    if value in BUILT_IN_TYPES.values():
        return {"type": value.__name__}
    if issubclass(value, np.generic) and np.dtype(value).type is value and np.dtype(value) in DTYPES:
        return {"type": f"numpy.{np.dtype(value).name}"}
    return refuse(value, encoder, path)


def read_type(written: Json, decoder: Decoder, path: str) -> type:
    """One of the types that are written above."""
    name = written["type"]
    known: dict[str, type] = BUILT_IN_TYPES | {f"numpy.{dtype.name}": dtype.type for dtype in DTYPES}
    require(isinstance(name, str) and name in known, f"{path}: {name!r} is no type")
    return known[name]


def write_slice(value: slice, encoder: Encoder, path: str) -> Json:
    """Its three parts."""
    return {"slice": write_list([value.start, value.stop, value.step], encoder, path)}


def read_slice(written: Json, decoder: Decoder, path: str) -> slice:
    """From three parts."""
    parts = read_list(written["slice"], decoder, path)
    are_positions = all(part is None or isinstance(part, int | str) for part in parts)
    require(len(parts) == 3 and are_positions, f"{path} is not a slice")
    return slice(*parts)


def write_random_state(value: object, encoder: Encoder, path: str) -> Json:
    """The state of a generator, so that it continues with what it would have drawn."""
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


def read_random_state(written: Json, decoder: Decoder, path: str) -> np.random.RandomState:
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


def with_keys(body: Json, keys: set[str], path: str) -> dict[str, Json]:
    """What must be an object of exactly these names."""
    require(isinstance(body, dict) and body.keys() == keys, f"{path} has not exactly {sorted(keys)}")
    return body


def checked_dtype(name: Json, kinds: str, path: str) -> np.dtype:
    """A dtype by its name, if it is of some kinds and of this machine's byte order."""
    try:
        dtype = np.dtype(name) if isinstance(name, str) and len(name) < 32 else np.dtype("V1")
    except (TypeError, ValueError) as error:
        raise DamagedFile(f"{path}: {name!r} is no dtype.") from error
    is_plain = dtype.kind in kinds and dtype.isnative and dtype.str == name
    require(is_plain, f"{path}: {name!r} is not a dtype of a saved file")
    return dtype


WRITERS |= {
    # JSON has these as they are.
    **dict.fromkeys((type(None), bool, int, str), lambda value, encoder, path: value),
    float: write_float,
    list: write_list,
    tuple: lambda value, encoder, path: {"tuple": write_list(list(value), encoder, path)},
    dict: write_dict,
    slice: write_slice,
    type: write_type,
    np.ndarray: write_array,
    np.generic: write_scalar,
    np.dtype: write_dtype,
}
READERS |= {
    "float": read_float,
    "tuple": lambda written, decoder, path: tuple(read_list(written["tuple"], decoder, path)),
    "dict": read_dict,
    "array": lambda written, decoder, path: decoder.take(written["array"], path),
    # The columns of a matrix lie side by side.
    "transposed": lambda written, decoder, path: decoder.take(written["transposed"], path).T,
    "dates": read_dates,
    "strings": read_strings,
    "objects": read_objects,
    "scalar": read_scalar,
    "dtype": lambda written, decoder, path: checked_dtype(written["dtype"], SCALAR_KINDS + "O", path),
    "type": read_type,
    "slice": read_slice,
    "random_state": read_random_state,
}
WRITERS_BY_LIBRARY["numpy"] = write_random_state
