"""Encode and decode plain values: Python's own, numpy's, and scipy's sparse matrices."""

from __future__ import annotations

import importlib
import math
from typing import Any

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
# The kinds of dtype in a file: booleans, numbers, text, dates and time spans.
SCALAR_KINDS, LABEL_KINDS, DATE_KINDS = "biufUmM", "U", "mM"
TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
    **{f"numpy.{dtype.name}": dtype.type for dtype in DTYPES},
}
SPARSE_TYPES = ("csr_matrix", "csc_matrix", "csr_array", "csc_array")
# The three vectors of a sparse matrix, by their names in the file and in scipy.
SPARSE_VECTORS = {"starts": "indptr", "indices": "indices", "values": "data"}
# scipy counts rows and columns in 32 bits.
LONGEST = 2**31 - 1


def write_float(value: float, encoder: Encoder, path: str) -> Json:
    """Write a float. JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else {"float": str(value)}


def read_float(written: Json, decoder: Decoder, path: str) -> float:
    """Read NaN or infinity."""
    word = written["float"]
    require(isinstance(word, str) and word in WORDS, f"{path}: {word!r} is not a float")
    return WORDS[word]


def write_list(value: list[object], encoder: Encoder, path: str) -> Json:
    """Write a list item by item."""
    return [encoder.value(each, join(path, i)) for i, each in enumerate(value)]


def read_list(written: Json, decoder: Decoder, path: str) -> list[object]:
    """Read a list."""
    require(isinstance(written, list), f"{path} is not a list")
    return decoder.value(written, path)


def write_dict(value: dict[object, object], encoder: Encoder, path: str) -> Json:
    """Write a dict as pairs, because its keys need not be text."""
    return {
        "dict": [
            [encoder.value(key, join(path, key)), encoder.value(each, join(path, key))]
            for key, each in value.items()
        ]
    }


def read_dict(written: Json, decoder: Decoder, path: str) -> dict[object, object]:
    """Read a dict from pairs with different keys."""
    pairs = checked_pairs(written["dict"], path)
    keys = [decoder.value(key, path) for key, _ in pairs]
    values = [decoder.value(value, join(path, str(key))) for key, (_, value) in zip(keys, pairs, strict=True)]
    try:
        found = dict(zip(keys, values, strict=True))
    except TypeError as error:
        raise DamagedFile(f"{path} has a key that is not hashable.") from error
    require(len(found) == len(pairs), f"{path} has the same key twice")
    return found


def checked_pairs(written: Json, path: str) -> list[list[Json]]:
    """Return a list. Raise unless it contains only pairs."""
    are_pairs = isinstance(written, list) and all(
        isinstance(each, list) and len(each) == 2 for each in written
    )
    require(are_pairs, f"{path} is not made of pairs")
    return written


def write_array(value: np.ndarray, encoder: Encoder, path: str) -> Json:
    """Write an array: numbers as an array of the file, text and objects as JSON."""
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
    # The memory layout of a matrix can change the last bits of sums over it.
    if native.flags.f_contiguous and not native.flags.c_contiguous:
        return {"transposed": encoder.put(np.ascontiguousarray(native.T), path)}
    # `ascontiguousarray` would turn a single number into a vector.
    return {"array": encoder.put(native if native.flags.c_contiguous else native.copy(order="C"), path)}


def read_dates(written: Json, decoder: Decoder, path: str) -> np.ndarray:
    """Read dates from integers that count units of time."""
    body = with_keys(written["dates"], {"dtype", "values"}, path)
    values = decoder.value(body["values"], path)
    require(isinstance(values, np.ndarray) and values.dtype == np.int64, f"{path}: dates are not int64")
    return values.view(checked_dtype(body["dtype"], DATE_KINDS, path))


def read_strings(written: Json, decoder: Decoder, path: str) -> np.ndarray:
    """Read text of a fixed width."""
    body = with_keys(written["strings"], {"dtype", "shape", "values"}, path)
    values, dtype = body["values"], checked_dtype(body["dtype"], LABEL_KINDS, path)
    require(
        isinstance(values, list) and all(isinstance(each, str) for each in values), f"{path} is not all text"
    )
    widest = max(map(len, values), default=0)
    require(dtype.itemsize // 4 <= 2 * widest + 64, f"{path}: the text is narrower than its dtype")
    require(dtype.itemsize // 4 >= widest, f"{path}: the text is wider than its dtype")
    require(allows_padding(decoder, values, dtype), f"{path}: the text is of very different lengths")
    return shaped(np.array(values, dtype=dtype), body["shape"], path)


def allows_padding(codec: Encoder | Decoder, texts: list[str], dtype: np.dtype) -> bool:
    """Return whether texts may share a width. Otherwise a small file could take much memory."""
    codec.padding += len(texts) * (dtype.itemsize // 4) - sum(map(len, texts))
    return codec.padding <= MOST_PADDING


def read_objects(written: Json, decoder: Decoder, path: str) -> np.ndarray:
    """Read an array of Python objects."""
    body = with_keys(written["objects"], {"shape", "values"}, path)
    values = read_list(body["values"], decoder, path)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return shaped(array, body["shape"], path)


def shaped(array: np.ndarray, shape: Json, path: str) -> np.ndarray:
    """Return an array in the shape that a file specifies."""
    is_shape = isinstance(shape, list) and len(shape) <= 4 and all(type(n) is int and n >= 0 for n in shape)
    require(is_shape and math.prod(shape) == array.size, f"{path} does not have the shape {shape}")
    return array.reshape(shape)


def write_scalar(value: np.generic, encoder: Encoder, path: str) -> Json:
    """Write a numpy scalar with its dtype."""
    if value.dtype.kind not in SCALAR_KINDS or (value.dtype.itemsize > 8 and value.dtype.kind == "f"):
        return refuse(value, encoder, path)
    plain = value.view(np.int64).item() if value.dtype.kind in DATE_KINDS else value.item()
    return {"scalar": [value.dtype.str, encoder.value(plain, path)]}


def read_scalar(written: Json, decoder: Decoder, path: str) -> object:
    """Read a numpy scalar."""
    pair = written["scalar"]
    require(isinstance(pair, list) and len(pair) == 2, f"{path} is not a scalar")
    dtype, value = checked_dtype(pair[0], SCALAR_KINDS, path), decoder.value(pair[1], path)
    expected = {"b": bool, "i": int, "u": int, "f": float, "U": str, "m": int, "M": int}[dtype.kind]
    require(type(value) is expected, f"{path}: {value!r} is not of dtype {dtype}")
    require(
        dtype.kind != "U" or dtype.itemsize == 4 * len(value), f"{path}: the text is not as wide as its dtype"
    )
    try:
        if dtype.kind in DATE_KINDS:
            return np.array([value], dtype=np.int64).view(dtype)[0]
        return dtype.type(value)
    except OverflowError as error:
        raise DamagedFile(f"{path}: {value!r} is not of dtype {dtype}.") from error


def write_dtype(value: np.dtype, encoder: Encoder, path: str) -> Json:
    """Write a dtype by its name."""
    return {"dtype": value.str} if value.kind in SCALAR_KINDS + "O" else refuse(value, encoder, path)


def write_type(value: type, encoder: Encoder, path: str) -> Json:
    """Write a type of numbers or text, such as `float` or `numpy.float32`. All other types are code."""
    name = next((name for name, known in TYPES.items() if known is value), None)
    return refuse(value, encoder, path) if name is None else {"type": name}


def read_type(written: Json, decoder: Decoder, path: str) -> type:
    """Read a type in `TYPES`."""
    name = written["type"]
    require(isinstance(name, str) and name in TYPES, f"{path}: {name!r} is not a type of values")
    return TYPES[name]


def write_slice(value: slice, encoder: Encoder, path: str) -> Json:
    """Write the three parts of a slice."""
    return {"slice": write_list([value.start, value.stop, value.step], encoder, path)}


def read_slice(written: Json, decoder: Decoder, path: str) -> slice:
    """Read a slice."""
    parts = read_list(written["slice"], decoder, path)
    are_positions = all(part is None or isinstance(part, int | str) for part in parts)
    require(len(parts) == 3 and are_positions, f"{path} is not a slice")
    return slice(*parts)


def write_random_state(value: object, encoder: Encoder, path: str) -> Json:
    """Write the state of a generator, so that it continues with the same numbers."""
    state = value.get_state(legacy=False) if type(value) is np.random.RandomState else {}
    if state.get("bit_generator") != "MT19937":
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
    """Read a Mersenne twister of 624 words."""
    body = with_keys(written["random_state"], {"key", "position", "has_gauss", "gauss"}, path)
    key = decoder.take(body["key"], path)
    require(key.dtype == np.uint32 and key.shape == (624,), f"{path}: a random state has 624 words")
    position, has_gauss, gauss = body["position"], body["has_gauss"], decoder.value(body["gauss"], path)
    require(
        type(position) is int and 0 <= position <= 624,
        f"{path}: the position of a random state is out of range",
    )
    require(
        has_gauss in (0, 1) and type(gauss) is float, f"{path}: a random state has an invalid normal number"
    )
    generator = np.random.RandomState()
    generator.set_state(("MT19937", key, position, has_gauss, gauss))
    return generator


def write_sparse(matrix: Any, encoder: Encoder, path: str) -> Json:
    """Write a sparse matrix by rows or by columns."""
    kind = type(matrix).__name__
    if kind not in SPARSE_TYPES or type(matrix) is not sparse_type(kind):
        return refuse(matrix, encoder, path)
    vectors = {name: getattr(matrix, attribute) for name, attribute in SPARSE_VECTORS.items()}
    return {"sparse": {"kind": kind, "shape": list(matrix.shape), **encoder.named(vectors, path)}}


def read_sparse(written: Json, decoder: Decoder, path: str) -> Any:
    """Read a sparse matrix. All indices must be in range, because C code follows them without a check."""
    body = with_keys(written["sparse"], {"kind", "shape", *SPARSE_VECTORS}, path)
    kind, shape = body["kind"], body["shape"]
    require(isinstance(kind, str) and kind in SPARSE_TYPES, f"{path}: there is no sparse matrix {kind!r}")
    is_shape = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)
    require(is_shape and min(shape) >= 0 and max(shape) <= LONGEST, f"{path} has no shape")
    vectors = [decoder.value(body[name], path) for name in SPARSE_VECTORS]
    are_vectors = all(isinstance(each, np.ndarray) and each.ndim == 1 for each in vectors)
    require(are_vectors, f"{path} is not made of three vectors")
    starts, indices, values = vectors
    n_lines, length = shape if kind.startswith("csr") else shape[::-1]
    are_integers = {starts.dtype, indices.dtype} <= {np.dtype(np.int32), np.dtype(np.int64)}
    require(are_integers, f"{path} has indices that are not integers")
    require(len(starts) == n_lines + 1, f"{path} does not have {n_lines} rows or columns")
    in_order = starts[0] == 0 and starts[-1] == len(indices) == len(values) and (np.diff(starts) >= 0).all()
    require(in_order, f"{path} has rows or columns that are not consecutive")
    in_range = len(indices) == 0 or (indices.min() >= 0 and indices.max() < length)
    require(in_range, f"{path} has indices out of range")
    require(values.dtype.kind in "biuf", f"{path} does not hold numbers")
    return sparse_type(kind)((values, indices, starts), shape=tuple(shape))


def sparse_type(name: str) -> Any:
    """Return a class of sparse matrices. scipy is imported only for a model that needs it."""
    return getattr(importlib.import_module("scipy.sparse"), name)


def with_keys(body: Json, keys: set[str], path: str) -> dict[str, Json]:
    """Return an object. Raise unless it has exactly some keys."""
    require(
        isinstance(body, dict) and body.keys() == keys,
        f"{path} does not have exactly the keys {sorted(keys)}",
    )
    return body


def checked_dtype(name: Json, kinds: str, path: str) -> np.dtype:
    """Return the dtype of a name. Raise unless it has one of some kinds and this machine's byte order."""
    try:
        dtype = np.dtype(name) if isinstance(name, str) and len(name) < 32 else np.dtype("V1")
    except (TypeError, ValueError) as error:
        raise DamagedFile(f"{path}: {name!r} is not a dtype.") from error
    is_plain = dtype.kind in kinds and dtype.isnative and dtype.str == name
    require(is_plain, f"{path}: {name!r} is not a dtype of a saved file")
    return dtype


WRITERS |= {
    # JSON has these types itself.
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
WRITERS_BY_LIBRARY |= {"numpy": write_random_state, "scipy": write_sparse}
READERS |= {
    "float": read_float,
    "tuple": lambda written, decoder, path: tuple(read_list(written["tuple"], decoder, path)),
    "dict": read_dict,
    "array": lambda written, decoder, path: decoder.take(written["array"], path),
    # The rows of the array are the columns of the matrix.
    "transposed": lambda written, decoder, path: decoder.take(written["transposed"], path).T,
    "dates": read_dates,
    "strings": read_strings,
    "objects": read_objects,
    "scalar": read_scalar,
    "dtype": lambda written, decoder, path: checked_dtype(written["dtype"], SCALAR_KINDS + "O", path),
    "type": read_type,
    "slice": read_slice,
    "random_state": read_random_state,
    "sparse": read_sparse,
}
