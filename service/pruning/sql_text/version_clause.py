"""Which version does a text ask for after a table's name, and where does that clause end?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from service.model.tables.tables import TableVersion, VersionKind
from service.pruning.conditions.moment import moment

# Comments inside the clause, other kinds of literals and computed values are not supported.
_CLAUSE = re.compile(
    r"""\s+ (?:FOR\s+)? (?P<kind>VERSION|SYSTEM_VERSION|TIMESTAMP|SYSTEM_TIME) \s+ AS \s+ OF \s+
    (?P<typed>TIMESTAMP\s*)?
    (?: (?P<number>[0-9]{1,19}) (?![\w.]) | '(?P<text>[^'\\]*)' | "(?P<quoted>[^"\\]*)" )""",
    re.VERBOSE | re.IGNORECASE,
)
# Java reads such a text as a number, so it is not a name.
_NUMBER = re.compile("-?[0-9]+")
_LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class VersionClause:
    """A version, and where its clause ends in the text."""

    version: TableVersion
    end: int


def version_clause(sql: str, name_end: int, said: exp.Expr, zone: str | None) -> VersionClause | None:
    """Returns the version after a name; None when it is anything but a literal with one meaning.

    `said` is what the parser made of the clause. Times without a zone are in `zone`.

    >>> from sqlglot import parse_one
    >>> def version(clause):
    ...     sql = f"SELECT 1 FROM t {clause}"
    ...     said = parse_one(sql, read="spark").find(exp.Table).args["version"]
    ...     found = version_clause(sql, 15, said, "UTC")
    ...     return found and (str(found.version.kind), found.version.value, sql[15 : found.end])
    >>> version("VERSION AS OF 7 AS x")
    ('SNAPSHOT', 7, ' VERSION AS OF 7')
    >>> version("FOR VERSION AS OF 'audit' x")
    ('REF', 'audit', " FOR VERSION AS OF 'audit'")
    >>> version("TIMESTAMP AS OF '1970-01-02'")
    ('TIMESTAMP', 86400000, " TIMESTAMP AS OF '1970-01-02'")
    >>> version("TIMESTAMP AS OF current_date()"), version("VERSION AS OF :id")
    (None, None)
    """
    match = _CLAUSE.match(sql, name_end)
    if match is None or not _says(said, match):
        return None
    text = match["number"] or match["text"] or match["quoted"] or ""
    if match["kind"].upper() in ("TIMESTAMP", "SYSTEM_TIME"):
        at_ms = None if match["number"] else moment(text, zone)
        version = None if at_ms is None else TableVersion(VersionKind.TIMESTAMP, at_ms)
    else:
        version = None if match["typed"] else named_version(text)
    return None if version is None else VersionClause(version, match.end())


def named_version(text: str) -> TableVersion | None:
    """Returns a snapshot by its id, or by the name of a branch or tag; None for any other text.

    >>> named_version("007").value, str(named_version("v7").kind), named_version("-7")
    (7, 'REF', None)
    """
    if _NUMBER.fullmatch(text):
        is_id = len(text) <= len(str(_LARGEST_ID)) and 0 <= int(text) <= _LARGEST_ID
        return TableVersion(VersionKind.SNAPSHOT, int(text)) if is_id else None
    return TableVersion(VersionKind.REF, text) if text and text.isprintable() else None


def _says(said: exp.Expr, match: re.Match[str]) -> bool:
    """Whether the clause is all that the parser read: a literal may be the beginning of an expression."""
    literal = said.args.get("expression")
    if match["typed"] and isinstance(literal, exp.Cast) and literal.to.this in _TIMESTAMPS:
        literal = literal.this
    elif match["typed"]:
        return False
    text = match["number"] or match["text"] or match["quoted"] or ""
    is_text = match["number"] is None
    return isinstance(literal, exp.Literal) and literal.is_string is is_text and literal.name == text


_TIMESTAMPS = {exp.DType.TIMESTAMP, exp.DType.TIMESTAMPLTZ, exp.DType.TIMESTAMPTZ}
