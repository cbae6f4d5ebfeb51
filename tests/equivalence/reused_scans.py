"""The scans whose rows a plan reads in further places, without a scan of their own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

_PLAN_ID = re.compile(r"\[plan_id=(\d+)\]")
_SCAN = re.compile(r"BatchScan ([^\[]+)\[")


def reused_scans(plan_text: str) -> Counter[str]:
    """Returns how often a plan reads the rows of a table again from an exchange, by table."""
    lines = plan_text.splitlines()
    found: Counter[str] = Counter()
    for line in lines:
        if "ReusedExchange" in line:
            found.update(set(_scans_of(lines, _PLAN_ID.findall(line)[-1:])))
    return found


def _scans_of(lines: Sequence[str], plan_ids: Sequence[str]) -> Iterator[str]:
    """Yields the tables that are scanned below the exchange of this id."""
    for at, line in enumerate(lines):
        if "ReusedExchange" not in line and _PLAN_ID.findall(line)[-1:] == plan_ids != []:
            depth = _depth(line)
            for below in lines[at + 1 :]:
                if _depth(below) <= depth:
                    break
                yield from _SCAN.findall(below)
            return


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" :+-"))
