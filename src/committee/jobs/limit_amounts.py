"""Convert limits of time and memory from text, such as 10m and 4GB, to seconds and bytes."""

from __future__ import annotations

import math
import re

# Units of time in limits such as `10m` and `2ms`.
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# Units of memory in limits such as `4GB`. Units with an i are powers of two.
BYTES = {
    "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30,
    "tib": 2.0**40, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12,
}  # fmt: skip
# The memory of the program and its libraries, before it reads a table.
OWN_BYTES = 250_000_000
PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)")


def seconds_of(amount: float | str | None) -> float | None:
    """Convert a time limit to seconds.

    Parameters
    ----------
    amount : number, str or None
        Seconds, or text such as "90s", "10m", "1h30m".

    Returns
    -------
    float or None

    Examples
    --------
    >>> seconds_of("1h30m"), seconds_of("45"), seconds_of(None)
    (5400.0, 45.0, None)
    >>> seconds_of("0s")
    Traceback (most recent call last):
    ValueError: A time limit must be more than 0 seconds. Got '0s'.
    """
    if amount is None:
        return None
    found = number_of(amount)
    if found is None and isinstance(amount, str):
        parts = PART.findall(amount.lower().strip())
        is_whole = "".join(f"{number}{unit}" for number, unit in parts) == re.sub(r"\s", "", amount.lower())
        if parts and is_whole and all(unit in SECONDS for _, unit in parts):
            found = sum(float(number) * SECONDS[unit] for number, unit in parts)
    if found is None:
        raise ValueError(f"A time limit must be seconds, or text such as 90s, 10m or 1h30m. Got {amount!r}.")
    if not 0 < found < math.inf:
        raise ValueError(f"A time limit must be more than 0 seconds. Got {amount!r}.")
    return found


def bytes_of(amount: float | str | None) -> int | None:
    """Convert a memory limit to bytes.

    Parameters
    ----------
    amount : number, str or None
        Bytes, or text such as "500MB", "4GB", "4GiB".

    Returns
    -------
    int or None

    Examples
    --------
    >>> bytes_of("4GB"), bytes_of("1.5 KiB"), bytes_of(None)
    (4000000000, 1536, None)
    """
    if amount is None:
        return None
    found = number_of(amount)
    if found is None and isinstance(amount, str):
        part = PART.fullmatch(amount.lower().strip())
        if part is not None and part[2] in BYTES:
            found = float(part[1]) * BYTES[part[2]]
    if found is None:
        raise ValueError(
            f"A limit of memory or size must be bytes, or text such as 500MB or 4GB. Got {amount!r}."
        )
    if not 1 <= found < math.inf:
        raise ValueError(f"A limit of memory or size must be more than 0 bytes. Got {amount!r}.")
    return int(found)


def number_of(amount: float | str) -> float | None:
    """Convert text to a number. Return None for other text."""
    try:
        return float(amount)
    except (TypeError, ValueError):
        return None
