"""Globs for the names in a stream's folder, as Hadoop reads them, which finds the files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_ESCAPED = re.compile(r"\\.?", re.DOTALL)
_SPECIAL = re.compile(r"[\[{}]")


def fault_of_glob(glob: str) -> str | None:
    r"""Why no name could ever be found by it; None: it is one.

    `*`, `?`, `[a-c]`, `[!a-c]`, `{a,b}`, and a backslash before what is meant as it stands.

    >>> [fault_of_glob(each) for each in ("*.{csv,csv.gz}", "[!a-c]?*", "]a}", "[]a]", r"\[a\]")]
    [None, None, None, None, None]
    >>> fault_of_glob("**/*.csv")
    'has a slash: it is for the names in the folder, and what is in subfolders is not read'
    """
    if "/" in glob:
        return "has a slash: it is for the names in the folder, and what is in subfolders is not read"
    parts = list(_parts(glob))
    for each in parts:
        if fault := _fault_of_part(each):
            return fault
    return "opens a brace and does not close it" if _is_group_open(parts) else None


def _parts(glob: str) -> Iterator[str]:
    """What is in brackets, what stands behind a backslash, and each other character."""
    position = 0
    while position < len(glob):
        end = position + 1
        if glob[position] == "\\":
            end += 1
        elif glob[position] == "[":
            end = _end_of_set(glob, position)
        yield glob[position:end]
        position = end


def _end_of_set(glob: str, start: int) -> int:
    """Behind the bracket that closes; one that comes first of all is meant as it stands."""
    first = start + 1 + (glob[start + 1 : start + 2] in ("!", "^"))
    position = first
    while position < len(glob):
        if glob[position] == "]" and position > first:
            return position + 1
        position += 2 if glob[position] == "\\" else 1
    # One more than there is, by which it is known.
    return len(glob) + 1


def _fault_of_part(part: str) -> str | None:
    if part.startswith("\\"):
        return _fault_of_escape(part)
    if not part.startswith("["):
        return None
    if _end_of_set(part, 0) > len(part):
        return "opens a bracket and does not close it"
    return _fault_of_set(part[1:-1])


def _fault_of_escape(escape: str) -> str | None:
    if escape == "\\":
        return "ends with a backslash"
    is_other = escape.isascii() and escape[1].isalnum()
    return "has a backslash before a letter or digit" if is_other else None


def _fault_of_set(inside: str) -> str | None:
    for escape in _ESCAPED.findall(inside):
        if fault := _fault_of_escape(escape):
            return fault
    # What Hadoop would take for the beginning or the end of something else.
    if found := _SPECIAL.search(_ESCAPED.sub("", inside)):
        return f"has a {found[0]} between brackets, without a backslash"
    plain = inside.lstrip("!^").replace("\\", "")
    # Each pair that a hyphen joins; where it is the first or the last, it is meant as it stands.
    if any(plain[at - 1] > plain[at + 1] for at in range(1, len(plain) - 1) if plain[at] == "-"):
        return "has a range between brackets whose end comes before its beginning"
    return None


def _is_group_open(parts: Sequence[str]) -> bool:
    count = 0
    for each in parts:
        # One that closes nothing is meant as it stands.
        count = count + 1 if each == "{" else max(count - (each == "}"), 0)
    return count > 0
