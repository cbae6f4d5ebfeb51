"""Selects the names in records to keep, where columns are inferred."""

from __future__ import annotations

from collections.abc import Set

FOREIGN_AT_MOST = 10
_LONGEST = 100


def note_names(found: set[str], names: Set[str], known: Set[str]) -> None:
    """Adds the known names; while there are none, keeps a few others, to show what was sent.

    Long names are cut to their beginning.

    >>> found: set[str] = set()
    >>> note_names(found, {"nope"}, {"id", "name"})
    >>> found
    {'nope'}
    >>> note_names(found, {"nope", "id"}, {"id", "name"})
    >>> found
    {'id'}
    """
    if not known.isdisjoint(names):
        found &= known
        found |= names & known
    elif known.isdisjoint(found):
        room = max(0, FOREIGN_AT_MOST - len(found))
        found.update(name[:_LONGEST] for name in sorted(names - found)[:room])
