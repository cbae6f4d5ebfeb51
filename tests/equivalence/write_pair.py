"""Two copies of a table: a gateway that prunes writes to one, and plain Spark writes to the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from service.errors.gateway_error import GatewayError
from service.gateway import Gateway
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import Parameters, QueryRecord, QueryRequest, QueryState
from service.model.writes.writes import BeginWrite, Write, WriteKind
from service.ports.engine.query_engine import Engine, EngineResult, Statement
from service.query.execution.prune_write import WritePruning
from service.query.execution.run_write import run_write
from service.query.registry.query_handle import QueryHandle
from spark_session.engine.engine import SparkEngine
from spark_session.session.parameters import spark_arguments
from tests.equivalence.more_writes import Generated
from tests.equivalence.written_tables import NAMESPACE
from tests.integration.sql.engine_calls import root_of

OURS, PLAIN = f"{NAMESPACE}.ours", f"{NAMESPACE}.plain"
NEW_OURS, NEW_PLAIN = f"{NAMESPACE}.new_ours", f"{NAMESPACE}.new_plain"
CALLER = "ann"
PATIENCE_S = 600
CONFLICT = "CONFLICT"
# The engine's errors have Spark's words without its code.
FAILURES = {
    "matched a single row": "CARDINALITY",
    "overflow": "OVERFLOW",
    "cannot be cast": "CAST_INVALID",
    "malformed": "CAST_INVALID",
    "COMMIT_CONFLICT": CONFLICT,
    "COLUMN_NOT_FOUND": "COLUMN",
    "UNRESOLVED_COLUMN": "COLUMN",
}


@dataclass
class Meeting:
    """An engine that lets another writer commit: before it reads a statement's tables, or after that."""

    engine: Engine
    commit: Callable[[], object]
    is_late: bool
    has_met: bool = False

    def run(self, statement: Statement) -> EngineResult:
        """Runs the statement; the other writer commits once."""
        if self.is_late:
            assert statement.begin_write is not None
            return self.engine.run(_beginning(statement, partial(self._begin, statement.begin_write)))
        self._meet()
        return self.engine.run(statement)

    def _begin(self, begin: BeginWrite, write: Write) -> None:
        begin(write)
        self._meet()

    def _meet(self) -> None:
        if not self.has_met:
            self.has_met = True
            self.commit()


def _beginning(statement: Statement, begin: BeginWrite) -> Statement:
    return replace(statement, begin_write=begin)


@dataclass
class WritePair:
    """Runs statements both ways, and compares what both tables have."""

    gateway: Gateway
    engine: SparkEngine
    seen: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    counts: dict[str, int] = field(default_factory=dict)
    """The rows of tables when they were last compared."""

    @property
    def spark(self) -> SparkSession:
        """The session of plain Spark."""
        return root_of(self.engine)

    def make(self, texts: Callable[[str], list[str]]) -> None:
        """Makes both tables."""
        for table in (OURS, PLAIN):
            for text in texts(table):
                self.spark.sql(text)
        for table in (NEW_OURS, NEW_PLAIN):
            self.spark.sql(f"DROP TABLE IF EXISTS {table}")
        assert self.is_alike(OURS, PLAIN)

    def check(self, statement: Generated) -> None:
        """Asserts that a statement does the same both ways, and that its answer is true."""
        before = self.counts[PLAIN]
        sql = statement.text.format(t=OURS, n=NEW_OURS)
        record = self._run(sql, statement.parameters)
        ours = "" if record.state is QueryState.SUCCEEDED else _failure(str(record.error))
        plain = self.plain(statement)
        self._note(sql, record, plain)
        found = f"{sql}\n{statement.parameters}\n{record.rewritten_sql}\nours: {ours}\nplain: {plain}"
        assert ours == plain, found
        assert self.is_alike(OURS, PLAIN), found
        if "{n}" in statement.text and not plain:
            assert self.is_alike(NEW_OURS, NEW_PLAIN), found
        if not plain:
            self._check_answer(record, before, found)

    def check_meeting(self, statement: Generated, commit: str, *, is_late: bool) -> None:
        """Asserts the same of a statement that meets another commit to its table.

        If that comes before the engine reads the table, the statement follows it. If it comes later, both
        come one after the other, in either order, or the statement fails with a conflict and does nothing.
        """
        sql = statement.text.format(t=OURS, n=NEW_OURS)
        other = partial(self.spark.newSession().sql, commit.format(t=OURS))
        query, ours = self._run_meeting(sql, statement.parameters, other, is_late=is_late)
        rewritten = query.pruned.rewritten_sql
        self.seen["met a commit"] += 1
        self.seen[
            f"met a commit {'late' if is_late else 'early'}: {'pruned' if rewritten else 'as written'}"
        ] += 1
        found = f"{sql}\n{statement.parameters}\n{rewritten}\n{commit} late: {is_late}\nours: {ours}"
        if is_late and ours == CONFLICT:
            self.seen["conflicts"] += 1
            self.spark.sql(commit.format(t=PLAIN))
            assert self.is_alike(OURS, PLAIN), found
            return
        orders = (True, False) if is_late and "ALTER" not in commit else (is_late,)
        began = self._snapshot(PLAIN)
        tried: list[str] = []
        for is_first in orders:
            if tried:
                self.spark.sql(f"CALL lake.system.rollback_to_snapshot('{PLAIN}', {began})")
            plain = self._in_order(statement, commit, is_first=is_first)
            tried.append(plain)
            if ours == plain and self.is_alike(OURS, PLAIN):
                return
        raise AssertionError(f"{found}\nplain: {tried}")

    def _in_order(self, statement: Generated, commit: str, *, is_first: bool) -> str:
        plain = self.plain(statement) if is_first else ""
        self.spark.sql(commit.format(t=PLAIN))
        return plain if is_first else self.plain(statement)

    def _snapshot(self, table: str) -> int:
        found = self.spark.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'").collect()
        return int(found[0][0])

    def plain(self, statement: Generated) -> str:
        """Runs a statement by plain Spark over its own copy; returns what its error is about, if any."""
        arguments: Any = spark_arguments(statement.parameters) or None
        try:
            self.spark.sql(statement.text.format(t=PLAIN, n=NEW_PLAIN).rstrip(";"), arguments)
        except PySparkException as failure:
            found = _failure(str(failure))
            self.failures[found if found != "OTHER" else f"{statement.text[:60]}: {failure}"[:200]] += 1
            return found
        return ""

    def is_alike(self, one: str, other: str) -> bool:
        """Whether two tables have the same rows."""
        rows = self.spark.sql(
            f"SELECT true, * FROM {one} UNION ALL SELECT false, * FROM {other}"  # in one job
        ).collect()
        found = {
            is_one: Counter(str(tuple(row)[1:]) for row in rows if row[0] is is_one)
            for is_one in (True, False)
        }
        self.counts[other] = found[False].total()
        return found[True] == found[False]

    def _run(self, sql: str, parameters: Parameters) -> QueryRecord:
        request = QueryRequest(sql, parameters, "lake", "pw", timeout_ms=PATIENCE_S * 1000)
        queries = self.gateway.queries
        query_id = queries.submit(request, CALLER, FULL_ACCESS).query_id
        queries.finished(query_id).result(PATIENCE_S)
        return queries.status(query_id, CALLER).record

    def _run_meeting(
        self, sql: str, parameters: Parameters, commit: Callable[[], object], *, is_late: bool
    ) -> tuple[QueryHandle, str]:
        ports = self.gateway.queries.ports
        request = QueryRequest(sql, parameters, "lake", "pw", timeout_ms=PATIENCE_S * 1000)
        query = QueryHandle(uuid4(), request, CALLER, FULL_ACCESS, datetime.now(UTC), 0)
        engine = Meeting(self.engine, commit, is_late)
        assert ports.writes is not None
        try:
            run_write(
                query,
                ports.writes,
                cast(Engine, engine),
                ports.clock,
                WritePruning(query, ports.pruner, ports.catalogs, None),
            )
        except GatewayError as failure:
            if not engine.has_met:
                # It was refused before it began.
                commit()
            return query, _failure(f"{failure.code} {failure.detail}")
        return query, ""

    def _note(self, sql: str, record: QueryRecord, plain: str) -> None:
        self.seen["compared"] += 1
        self.seen[f"{_verb(sql)}: {'as written' if record.rewritten_sql is None else 'pruned'}"] += 1
        if plain:
            self.seen["failed alike"] += 1

    def _check_answer(self, record: QueryRecord, before: int, found: str) -> None:
        """Asserts that the number of rows which the answer has is the true one, if it has one."""
        assert record.write is not None, found
        affected, kind = record.write.outcome.rows_affected, record.write.write.kind
        after = self.counts[PLAIN]
        if kind is WriteKind.DELETE:
            assert affected in (None, before - after), (affected, before, after, found)
        elif kind is WriteKind.INSERT:
            assert affected == after - before, (affected, before, after, found)
        elif kind in (WriteKind.CREATE_TABLE_AS, WriteKind.REPLACE_TABLE_AS):
            assert affected == self.counts[NEW_PLAIN], (affected, found)
        if affected is None:
            self.seen["rows not known"] += 1


def _verb(sql: str) -> str:
    return sql.split()[0].upper()


def _failure(text: str) -> str:
    """Returns what an error of Spark is about."""
    return next((code for words, code in FAILURES.items() if words.lower() in text.lower()), "OTHER")
