"""The groups of tests that run in one process, as they share what is slow to start."""

from __future__ import annotations

LONGEST = (
    "integration/queries",
    "integration/ingest_requests",
    "equivalence/texts",
    "equivalence/tables",
    "equivalence/keys",
    "integration/policies",
    "contract",
)
"""The groups that take longest. They start first, so that no process is left alone with one at the end."""

WITH_ROOMS = frozenset({"equivalence", "integration", "unit"})
"""Folders whose own folders and files are groups. Every other folder is one group."""


def group_of(nodeid: str) -> str:
    """Returns the name of the group of a test."""
    _, folder, *below = nodeid.partition("::")[0].split("/")
    return f"{folder}/{below[0]}" if folder in WITH_ROOMS else folder


def turn_of(group: str) -> int:
    """Returns whether a group starts early: the smaller, the earlier."""
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)
