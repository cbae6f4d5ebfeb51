"""Checks the values of read options: too large ones fill the heap, too small ones make many tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from service.errors.statement_errors import ReadOptionInvalid
from spark_session.bounds.query_bounds import GIB, QueryBounds

MAX_LOOKBACK = 1000
MAX_NAME_CHARACTERS = 255
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
LONGEST = 2**63 - 1

Range = tuple[int, int]

# Options that Iceberg reads as numbers. Versions are any number of 64 bits.
RANGES: Mapping[str, Callable[[QueryBounds], Range]] = MappingProxyType(
    {
        "batch-size": lambda bounds: (1, bounds.batch_rows),
        "end-snapshot-id": lambda _: (-LONGEST, LONGEST),
        "file-open-cost": lambda _: (0, GIB),
        "lookback": lambda _: (1, MAX_LOOKBACK),
        "split-size": lambda bounds: (bounds.min_split_bytes, 16 * GIB),
        "start-snapshot-id": lambda _: (-LONGEST, LONGEST),
    }
)
SWITCHES = frozenset({"locality", "vectorization-enabled"})


def allow_option_values(options: Sequence[Sequence[str]], bounds: QueryBounds) -> None:
    """Checks that every option has a value within its bounds; their names are checked before.

    >>> allow_option_values([("branch", "audit"), ("split-size", "1048576")], QueryBounds())
    >>> allow_option_values([("batch-size", "2000000000")], QueryBounds())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    service.errors.statement_errors.ReadOptionInvalid: The read option batch-size takes 1 to 16384,...

    Raises:
        ReadOptionInvalid: a value is out of bounds, or not one that the option takes.
    """
    for name, value in options:
        option = name.lower()
        if option in RANGES:
            _allow_number(option, value, RANGES[option](bounds))
        elif option in SWITCHES and value.lower() not in ("true", "false"):
            raise ReadOptionInvalid(f"The read option {option} takes true or false, not {value[:40]!r}.")
        elif len(value) > MAX_NAME_CHARACTERS:
            raise ReadOptionInvalid(
                f"The read option {option} takes {MAX_NAME_CHARACTERS} characters at most."
            )


def _allow_number(option: str, value: str, allowed: Range) -> None:
    least, most = allowed
    if not _WHOLE_NUMBER.fullmatch(value) or not least <= int(value) <= most:
        takes = "a whole number" if most == LONGEST else f"{least} to {most}"
        raise ReadOptionInvalid(f"The read option {option} takes {takes}, not {value[:40]!r}.")
