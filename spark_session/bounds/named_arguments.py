"""Puts arguments that are given by name in the function's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

# Functions whose size depends on an argument, and that take arguments by name in Spark 4.1.
PARAMETERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "count_min_sketch": ("column", "epsilon", "confidence", "seed"),
        "approx_count_distinct": ("expr", "relativesd"),
        "range": ("start", "end", "step", "numslices"),
        "randstr": ("length", "seed"),
    }
)


def in_order(name: str, nodes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the values of the arguments; one with an unknown name stays where it was written.

    >>> in_order("randstr", [{"k": "seed", "a": [{"n": 1}]}, {"k": "length", "a": [{"n": 5}]}])
    [{'n': 5}, {'n': 1}]
    """
    if not any("k" in node for node in nodes):
        return list(nodes)
    places = PARAMETERS.get(name, ())
    placed: list[Mapping[str, Any]] = []
    for place, node in enumerate(nodes):
        value = node["a"][0] if "k" in node else node
        at = places.index(node["k"]) if node.get("k") in places else place
        placed += [{}] * (at + 1 - len(placed))
        placed[at] = value
    return placed
