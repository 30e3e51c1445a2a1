"""The encoding of text: as somebody specifies it, by a mark at its beginning, or found by its bytes."""

from __future__ import annotations

import codecs
import contextlib
from collections.abc import Callable, Iterator

from committee.files.errors import BadTable

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # That of UTF-16 is a part of it.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings to try for text without a mark, the likely ones first. The last one knows every byte.
ENCODINGS = ("utf-8", "cp1252", "latin-1")


class WrongEncoding(BadTable):
    """Text that is not written in an encoding.

    Examples
    --------
    >>> print(WrongEncoding("train.csv", "ascii"))
    train.csv is not written in ascii. Leave the encoding out to have it found.
    """

    def __init__(self, name: str, encoding: str) -> None:
        super().__init__(f"{name} is not written in {encoding}. Leave the encoding out to have it found.")


def encoding_of(head: bytes) -> str:
    """Find the encoding of first bytes, whose last character may be cut.

    Examples
    --------
    >>> [encoding_of("5 €, Köln".encode(encoding)) for encoding in ("utf-8", "cp1252", "utf-16", "utf-32")]
    ['utf-8', 'cp1252', 'utf-16', 'utf-32']
    """
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    for encoding in ENCODINGS[:-1]:
        with contextlib.suppress(WrongEncoding):
            decoded("", head, encoding)
            return encoding
    return ENCODINGS[-1]


def encodings_after(encoding: str) -> tuple[str, ...]:
    """Return encodings to try when decoding with the detected one fails; a mark is never second-guessed.

    Examples
    --------
    >>> encodings_after("utf-8"), encodings_after("utf-16")
    (('cp1252', 'latin-1'), ())
    """
    return ENCODINGS[ENCODINGS.index(encoding) + 1 :] if encoding in ENCODINGS else ()


def decoded(name: str, head: bytes, encoding: str) -> str:
    r"""Decode first bytes, without a mark at the beginning.

    Examples
    --------
    >>> decoded("train.csv", b"\xef\xbb\xbfage", "utf-8")
    'age'
    >>> decoded("train.csv", b"age", "base64")
    Traceback (most recent call last):
    committee.files.errors.BadTable: There is no encoding 'base64'. utf-8, latin-1 and utf-16 are some.
    """
    with decoding(name, encoding):
        return decoder_of(encoding)().decode(head).removeprefix("\ufeff")


def decoder_of(encoding: str) -> Callable[..., codecs.IncrementalDecoder]:
    """Return what makes decoders of an encoding of text."""
    try:
        "".encode(encoding)  # some codecs of Python are not for text
        return codecs.getincrementaldecoder(encoding)
    except LookupError as error:
        raise BadTable(f"There is no encoding {encoding!r}. utf-8, latin-1 and utf-16 are some.") from error


@contextlib.contextmanager
def decoding(name: str, encoding: str) -> Iterator[None]:
    """Raise an error in one line for text that is not written in an encoding."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise WrongEncoding(name, encoding) from error
