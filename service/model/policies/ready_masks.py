"""Ready-made masks, and the SQL expressions that they stand for."""

from __future__ import annotations

from enum import StrEnum


class ReadyMask(StrEnum):
    """A mask by name. Each keeps the column's type, and a null stays null.

    `NULL` hides every value of a column of any type. `HASH` is the SHA-256 of a text: equal values stay
    equal, so that joins and counts work. `LAST_FOUR` shows the last four characters of a text that has more.
    `YEAR_ONLY` is the first day of a date's or timestamp's year. `REDACT` is the same text for every text.
    """

    NULL = "null"
    HASH = "hash"
    LAST_FOUR = "last_four"
    YEAR_ONLY = "year_only"
    REDACT = "redact"


_EXPRESSIONS = {
    # The branch that is never taken gives the result its type.
    ReadyMask.NULL: "if(false, {c}, NULL)",
    ReadyMask.HASH: "sha2({c}, 256)",
    ReadyMask.LAST_FOUR: (
        "CASE WHEN length({c}) > 4 THEN concat('****', right({c}, 4)) WHEN {c} IS NOT NULL THEN '****' END"
    ),
    ReadyMask.YEAR_ONLY: "if(false, {c}, make_date(year({c}), 1, 1))",
    ReadyMask.REDACT: "CASE WHEN {c} IS NOT NULL THEN 'REDACTED' END",
}


def expression_of(mask: ReadyMask, column: str) -> str:
    """Returns the SQL expression of a ready-made mask for a column.

    >>> expression_of(ReadyMask.HASH, "card")
    'sha2(`card`, 256)'
    >>> expression_of(ReadyMask.NULL, "odd`name")
    'if(false, `odd``name`, NULL)'
    """
    quoted = "`" + column.replace("`", "``") + "`"
    # Not `str.format`: the column's name may have braces.
    return _EXPRESSIONS[mask].replace("{c}", quoted)


def ready_mask_of(expression: str, column: str) -> ReadyMask | None:
    """Returns the ready-made mask that has this expression. None: no mask has it.

    >>> ready_mask_of("sha2(`card`, 256)", "card")
    <ReadyMask.HASH: 'hash'>
    >>> ready_mask_of("sha2(`card`, 256)", "name")
    """
    return next((mask for mask in ReadyMask if expression_of(mask, column) == expression), None)
