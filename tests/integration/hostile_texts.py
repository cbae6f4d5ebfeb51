"""SQL that tries to leave SQL, for every protocol that takes SQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spark_session.vetting.decision import Ruling, names_with
from spark_session.vetting.functions import FUNCTIONS, TABLE_FUNCTIONS
from spark_session.vetting.options import FORMAT_OPTIONS, READ_OPTIONS
from spark_session.vetting.statements import STATEMENTS
from tests.integration.sql.statement_texts import TEXTS

NOT_ALLOWED, SESSION_REQUIRED = "STATEMENT_NOT_ALLOWED", "SESSION_REQUIRED"
PATHS = (
    "/etc/passwd",
    "file:/etc/passwd",
    "file:///etc/passwd",
    "hdfs://namenode/data",
    "s3a://bucket/data",
    "http://127.0.0.1:9/data",
    "jar:file:/a.jar!/b",
    "../../etc/passwd",
    "shop/sales",
)


@dataclass(frozen=True, slots=True)
class HostileText:
    """A text, and the codes that it may get. `runs_in_sessions`: it may run in a session."""

    sql: str
    codes: frozenset[str]
    runs_in_sessions: bool = False


def hostile_texts() -> Iterator[HostileText]:
    """Yields every text."""
    yield from _statements()
    for name in sorted(names_with(FUNCTIONS, Ruling.REFUSED)):
        for call in (f"{name}('a', 'b')", f"SYSTEM.BUILTIN.{name}('a')", f"IDENTIFIER('{name}')('a')"):
            yield _text(f"SELECT {call}")
        yield _text(f"SELECT 1 WHERE EXISTS (SELECT count({name}('a', 'b')))")
    for name in names_with(TABLE_FUNCTIONS, Ruling.REFUSED):
        yield _text(f"SELECT * FROM {name}()")
    for option in sorted(names_with(READ_OPTIONS, Ruling.REFUSED)):
        yield _text(f"SELECT * FROM shop.sales WITH (`{option}` = '/etc')")
    for option in sorted(names_with(FORMAT_OPTIONS, Ruling.REFUSED)):
        yield _text(f"SELECT schema_of_csv('1', map('{option}', '2000000000'))")
        yield _text(f"SELECT from_csv('1', 'a INT', map('{option.upper()}', '2000000000'))")
    yield from _unknown_functions()
    yield from _paths_as_tables()


def _text(sql: str, *codes: str) -> HostileText:
    return HostileText(sql, frozenset(codes or (NOT_ALLOWED,)))


def _statements() -> Iterator[HostileText]:
    """Each statement that is refused: alone, behind a comment, behind a query, and as a part of one."""
    codes = frozenset((NOT_ALLOWED, SESSION_REQUIRED, "SQL_WRITES_OFF", "SQL_SYNTAX", "SQL_MANY_STATEMENTS"))
    for name in sorted(names_with(STATEMENTS, Ruling.REFUSED)):
        text = TEXTS[name].replace("lake.shop.sales", "shop.sales")
        runs = STATEMENTS[name].by == SESSION_REQUIRED
        yield HostileText(text, codes, runs)
        yield HostileText(f"/* SELECT 1 */ -- SELECT 2\n {text}", codes, runs)
        yield HostileText(f"SELECT 1; {text}", codes)
        yield HostileText(f"SELECT * FROM ({text})", codes | {"SQL_INVALID", "TABLE_NOT_FOUND"})


def _unknown_functions() -> Iterator[HostileText]:
    for function in ("read_files", "read_csv", "http_get", "parquet_scan", "load_extension", "pg_read_file"):
        yield _text(f"SELECT {function}('/etc/passwd')", "SQL_INVALID")
        yield _text(f"SELECT * FROM {function}('/etc/passwd')", "SQL_INVALID")
    for name in (
        "spark_catalog.default.f",
        "lake.shop.f",
        "system.session.f",
        "global_temp.f",
        "lake.system.f",
    ):
        yield _text(f"SELECT {name}(1)", "SQL_INVALID")


def _paths_as_tables() -> Iterator[HostileText]:
    for path in PATHS:
        for prefix in (
            "",
            "lake.",
            "lake.shop.",
            "parquet.",
            "text.",
            "csv.",
            "binaryFile.",
            "spark_catalog.",
        ):
            yield _text(f"SELECT * FROM {prefix}`{path}`")
        yield _text(f"SELECT * FROM IDENTIFIER('text.`{path}`')")
