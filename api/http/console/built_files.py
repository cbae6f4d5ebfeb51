"""The built files of the console, read once."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

PAGE = "index.html"
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """One file, plain and compressed. `etag` is that of the plain bytes."""

    media_type: str
    etag: str
    plain: bytes = field(repr=False)
    zipped: bytes = field(repr=False)


@cache
def built_files() -> Mapping[str, BuiltFile]:
    """Returns the files by their names. A name that is not here is not served: no path is ever made of one.

    >>> "../app.py" in built_files(), built_files()["index.html"].media_type
    (False, 'text/html; charset=utf-8')
    """
    folder = files("api.http.console").joinpath("static")
    return {
        entry.name: _built(entry.name, entry.read_bytes())
        for entry in folder.iterdir()
        if _ending(entry.name) in _MEDIA_TYPES
    }


def _built(name: str, plain: bytes) -> BuiltFile:
    digest = hashlib.sha256(plain).hexdigest()[:32]
    return BuiltFile(_MEDIA_TYPES[_ending(name)], digest, plain, gzip.compress(plain, 9, mtime=0))


def _ending(name: str) -> str:
    return name[name.rfind(".") :]
