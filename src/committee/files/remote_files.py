"""Fetch files from URLs, and store files there.

`http` and `https` are read by the standard library. `s3`, `gs`, `abfs`, `hdfs` and `file` are file systems of
Arrow, which takes credentials and endpoints from the URL or from the environment.
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import pyarrow as pa
import pyarrow.fs

from committee.files.table_error import BadTable

WEB = ("http", "https")
# The time to wait for an answer of a server.
SECONDS = 60.0


def name_of_url(url: str) -> str:
    """Return a URL for messages, without credentials and options.

    Examples
    --------
    >>> name_of_url("s3://key:secret@bucket/t.csv?region=eu")
    's3://bucket/t.csv'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@contextlib.contextmanager
def fetched(url: str) -> Iterator[Path]:
    """Copy the file of a URL to a temporary file."""
    name = name_of_url(url)
    with tempfile.NamedTemporaryFile(prefix="committee-") as copy:
        with explaining(name, "read"):
            if urlsplit(url).scheme.lower() in WEB:
                download(url, name, copy)
            else:
                system, path = system_of(url)
                with system.open_input_stream(path) as stream:
                    shutil.copyfileobj(stream, copy)
        copy.flush()
        yield Path(copy.name)


def download(url: str, name: str, copy: Any) -> None:
    """Copy the content of a web address to an open file. A user and a password are sent as basic access."""
    parts = urlsplit(url)
    headers = {"User-Agent": "committee"}
    if parts.username is not None:
        access = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(access).decode()}"
    address = parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")
    request = urllib.request.Request(urlunsplit(address), headers=headers)
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        shutil.copyfileobj(answer, copy)
        promised = answer.headers.get("Content-Length")
    copy.flush()
    n_bytes = os.fstat(copy.fileno()).st_size
    if promised is not None and n_bytes != int(promised):
        raise OSError(f"{name} cannot be read: the connection ended after {n_bytes} of {promised} bytes.")


@contextlib.contextmanager
def storing(url: str) -> Iterator[Path]:
    """Store a temporary file at a URL when the block ends without an error."""
    check_writable(url)
    with tempfile.TemporaryDirectory(prefix="committee-") as folder:
        path = Path(folder, "file")
        yield path
        with explaining(name_of_url(url), "written"), path.open("rb") as file:
            system, place = system_of(url)
            with system.open_output_stream(place) as stream:
                shutil.copyfileobj(file, stream)


def check_writable(url: str) -> None:
    """Raise for a URL that cannot be written to.

    Examples
    --------
    >>> check_writable("https://example.org/p.csv")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: https://example.org/p.csv cannot be written: http and https are only
    read. Name a file, or an object store such as s3.
    """
    if urlsplit(url).scheme.lower() in WEB:
        raise BadTable(
            f"{name_of_url(url)} cannot be written: http and https are only read. Name a file, or an object "
            "store such as s3."
        )


def exists(url: str) -> bool:
    """Return whether there is a file at a URL that can be written to."""
    check_writable(url)
    with explaining(name_of_url(url), "written"):
        system, path = system_of(url)
        return bool(system.get_file_info(path).type != pyarrow.fs.FileType.NotFound)


def system_of(url: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """Return the file system of a URL and the path in it."""
    try:
        return pyarrow.fs.FileSystem.from_uri(url)
    except pa.ArrowInvalid as error:
        raise BadTable(
            f"{name_of_url(url)} cannot be opened ({first_line(error)}). A URL begins with http, https, s3, "
            "gs, abfs, hdfs or file."
        ) from error


@contextlib.contextmanager
def explaining(name: str, what: str) -> Iterator[None]:
    """Raise errors of one line that name a URL without its credentials."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (404, 410):
            raise FileNotFoundError(f"There is no file {name}.") from None
        raise OSError(f"{name} cannot be {what}: the server answers {error.code} {error.reason}.") from None
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {name}.") from None
    except (OSError, HTTPException) as error:
        if name in str(error):
            raise
        raise OSError(f"{name} cannot be {what}: {first_line(error)}.") from None


def first_line(error: Exception) -> str:
    """Return the first line of an error, without its last point."""
    lines = str(getattr(error, "reason", error)).splitlines() or [type(error).__name__]
    return lines[0].strip().removesuffix(".")
