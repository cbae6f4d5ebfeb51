"""File descriptors: each connection takes one, and so do many other things."""

from __future__ import annotations

import resource

import structlog

_OTHERS = 512
"""For Spark, the stores, object stores, and files that are read and written."""
_FEWEST = 16

_log = structlog.stdlib.get_logger("api.connections")


def with_descriptors(connections: int, others: int = 0) -> int:
    """Returns how many of these connections this process has descriptors for; may raise its own limit.

    `others`: connections of other ports, which are counted apart.

    Without a descriptor, no connection can be accepted, not even to reject it.
    """
    kept = others + _OTHERS
    needed = connections + kept
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return connections
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    affordable = max(_FEWEST, min(connections, raised - kept))
    if affordable < connections:
        _log.warning("fewer_connections_than_set", connections=affordable, descriptors=raised)
    return affordable
