"""Addresses of files that callers want read; they may have globs, and are taken literally.

Nothing is decoded and nothing resolved: an address that could mean another place than it says is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import translate
from itertools import groupby

FILE = "file"
SCHEMES = frozenset({FILE, "s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "oss", "hdfs"})
_URI = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/]*)(?P<path>/.*)?", re.DOTALL)
ANY_DEPTH = "**"
"""Any number of folders, including none."""
# The longest path on a disk, and the longest key in an object store.
_LONGEST_ADDRESS = 4_096
_LONGEST_NAME = 1_024
NameMatch = Callable[[str], bool]
"""Returns whether a name matches."""
_GLOB = re.compile(r"[*?\[]")
# Characters that a storage might decode once more: the dot, the slashes, NUL, and the percent sign itself.
_ENCODED = re.compile(r"%(2e|2f|5c|00|25)", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\\]")
_NO_HOST = re.compile(r"^file:/(?!/)")


@dataclass(frozen=True, slots=True)
class SourceUri:
    """An address in parts; `segments` stand between the slashes of its path, with globs as written."""

    scheme: str
    authority: str
    segments: tuple[str, ...]

    @staticmethod
    def parse(text: str) -> SourceUri:
        """Returns the address; several `**` in a row become one, which means the same.

        Raises:
            ValueError: the text is not an address, might mean another place than it says, or is too long.

        >>> SourceUri.parse("s3://bucket/in/*.json.gz").segments
        ('in', '*.json.gz')
        >>> SourceUri.parse("s3://bucket/**/**/a/**").segments
        ('**', 'a', '**')
        """
        if len(text) > _LONGEST_ADDRESS:
            raise ValueError(f"it has more than {_LONGEST_ADDRESS} characters")
        found = _URI.fullmatch(text)
        if found is None:
            raise ValueError(
                "it is not an address such as file:///data/*.ndjson or s3://bucket/folder/*.parquet"
            )
        uri = SourceUri(found["scheme"], found["authority"], _segments(found["path"] or "/"))
        if uri.scheme not in SCHEMES:
            raise ValueError(f"{uri.scheme}: is not read here; known are {', '.join(sorted(SCHEMES))}")
        if (uri.scheme == FILE) != (not uri.authority):
            raise ValueError("file: has three slashes, file:///folder; all others name a bucket or a host")
        # Azure has its container there; in other addresses it would be a password.
        has_user = "@" in uri.authority and not uri.scheme.startswith(("abfs", "wasb"))
        if has_user or _CONTROLS.search(text):
            raise ValueError("it has characters that an address cannot have")
        return uri

    @property
    def fixed(self) -> tuple[str, ...]:
        """The segments before the first one with a glob."""
        globs = (number for number, segment in enumerate(self.segments) if is_glob(segment))
        return self.segments[: next(globs, len(self.segments))]

    def is_below(self, prefix: SourceUri) -> bool:
        """Returns whether every file that it can match lies in the folder `prefix`, or is that file.

        >>> prefix = SourceUri.parse("s3://b/in")
        >>> [SourceUri.parse(f"s3://b/{path}").is_below(prefix) for path in ("in/a", "in-secret/a", "*/a")]
        [True, False, False]
        """
        is_same_store = (self.scheme, self.authority) == (prefix.scheme, prefix.authority)
        return is_same_store and self.fixed[: len(prefix.segments)] == prefix.segments

    def child(self, name: str) -> SourceUri:
        """Returns the address of this name in the folder."""
        return SourceUri(self.scheme, self.authority, (*self.segments, name))

    @property
    def path(self) -> str:
        """The path in the storage's own file system: with the bucket, or from the root.

        >>> SourceUri.parse("s3://bucket/in/a").path, SourceUri.parse("file:///in/a").path
        ('bucket/in/a', '/in/a')
        """
        return "/".join((self.authority if self.is_bucket else "", *self.segments)) or "/"

    @property
    def is_bucket(self) -> bool:
        """Whether the authority is a part of its paths."""
        return self.scheme not in (FILE, "hdfs")

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}/{'/'.join(self.segments)}"


def is_glob(segment: str) -> bool:
    """Returns whether the segment can match more than one name."""
    return _GLOB.search(segment) is not None


def name_match(segment: str) -> NameMatch:
    """Returns a function that tests names against a segment; a glob matches no hidden file by a wildcard.

    The time for a name grows with its length and with that of the segment, not with the number of ways to
    divide the name among several `*`: Python's translation of a glob does not backtrack into them.

    >>> [name_match("*.json")(name) for name in ("a.json", ".a.json", "_a.json")], name_match("_*")("_a")
    ([True, False, False], True)
    """
    if not is_glob(segment):
        return segment.__eq__
    match = re.compile(translate(segment)).match
    is_hidden_meant = tuple(mark for mark in (".", "_") if segment.startswith(mark))

    def is_match(name: str) -> bool:
        is_hidden = name.startswith((".", "_")) and not name.startswith(is_hidden_meant)
        return not is_hidden and match(name) is not None

    return is_match


def _segments(path: str) -> tuple[str, ...]:
    segments = tuple(path[1:].split("/")) if path != "/" else ()
    if segments and not segments[-1]:
        segments = segments[:-1]
    if any(segment in ("", ".", "..") for segment in segments):
        raise ValueError("its path has an empty step, `.` or `..`")
    if _ENCODED.search(path):
        raise ValueError("its path has percent-encoded dots or slashes; write names as they are")
    if any(len(segment) > _LONGEST_NAME for segment in segments):
        raise ValueError(f"its path has a step of more than {_LONGEST_NAME} characters")
    return tuple(
        segment for name, alike in groupby(segments) for segment in ((name,) if name == ANY_DEPTH else alike)
    )


def address_of(path: str) -> str:
    """Returns the address for a path from Spark, which omits the two slashes before an empty host.

    >>> address_of("file:/in/a b.json"), address_of("s3a://bucket/in/a.json")
    ('file:///in/a b.json', 's3a://bucket/in/a.json')
    """
    return _NO_HOST.sub("file:///", path)
