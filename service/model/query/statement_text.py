"""The first words of a statement. They decide how it is run; only the engine decides what it may do."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TRIVIA = r"(?:\s|--[^\r\n]*(?:[\r\n]|$)|/\*(?!\+).*?\*/)*"
_EXPLAIN = re.compile(
    rf"{_TRIVIA}EXPLAIN\b{_TRIVIA}(?:(?P<mode>EXTENDED|FORMATTED|COST|CODEGEN|LOGICAL)\b{_TRIVIA})?",
    re.IGNORECASE | re.DOTALL,
)
_WRITES = "INSERT|DELETE|UPDATE|MERGE|ALTER|COMMENT|CALL|REPLACE|TRUNCATE"
_COMMAND = re.compile(
    rf"{_TRIVIA}(?:SHOW|DESCRIBE|DESC|USE|SET|RESET|CREATE|DROP|{_WRITES})\b", re.IGNORECASE | re.DOTALL
)
_MAY_WRITE = re.compile(rf"\b(?:CREATE|DROP|{_WRITES})\b", re.IGNORECASE)
_WORD = re.compile(rf"{_TRIVIA}(?P<word>[A-Za-z]+)\b", re.DOTALL)
SIMPLE = "SIMPLE"


@dataclass(frozen=True, slots=True)
class QueryText:
    """A query, and in which mode EXPLAIN shows its plan; None: it is run."""

    sql: str
    explain: str | None = None


def query_text(sql: str) -> QueryText:
    r"""Returns the query that a text has after its EXPLAIN, or the text itself.

    >>> query_text("EXPLAIN FORMATTED SELECT 1")
    QueryText(sql='SELECT 1', explain='FORMATTED')
    >>> query_text("-- why?\nexplain SELECT 1").explain, query_text("SELECT explain FROM t").explain
    ('SIMPLE', None)
    """
    found = _EXPLAIN.match(sql)
    if found is None:
        return QueryText(sql)
    return QueryText(sql[found.end() :], (found["mode"] or SIMPLE).upper())


def is_command(sql: str) -> bool:
    """Whether the text cannot be a query, by its first word.

    >>> [is_command(sql) for sql in ("show tables", "/* all */ DESC t", "SELECT 1", "FROM t")]
    [True, True, False, False]
    """
    return _COMMAND.match(sql) is not None


def may_write(sql: str) -> bool:
    """Whether the text has a word that statements have which write; a query may have one, too.

    >>> [may_write(sql) for sql in ("WITH x AS (SELECT 1) INSERT INTO t FROM x", "SELECT 1")]
    [True, False]
    """
    return _MAY_WRITE.search(sql) is not None


def first_word(sql: str) -> str:
    r"""Returns the first word of a statement in capitals; empty: it begins with something else.

    >>> [first_word(sql) for sql in ("/* all */ desc t", "(SELECT 1)", "-- x\nuse shop")]
    ['DESC', '', 'USE']
    """
    found = _WORD.match(sql)
    return "" if found is None else found["word"].upper()
