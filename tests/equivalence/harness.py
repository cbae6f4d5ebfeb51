"""Runs one query as it is written and as it is narrowed, and compares the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from math import isclose
from typing import Any
from uuid import uuid4

import pyarrow as pa

from service.errors import CallerError, GatewayError, QueryFailed
from service.gateway import Gateway
from service.model.filters.filtering import FilterRecord, Reason
from service.model.operations.health import PartState
from service.model.query.pruning import ScanRecord, Selection
from service.model.query.query import Parameters, QueryRequest
from service.ports import EngineResult, Statement
from service.query.filtering.pruned_query import PrunedQuery
from tests.equivalence.lakehouse import SCHEMA

ROWS_AT_MOST = 500_000
BYTES_AT_MOST = 200 << 20
PATIENCE_S = 30.0
GIVEN_UP = ("The engine gave this query up", "The query is too deep")


class EngineGaveUp(Exception):
    """The engine's optimizer made more of a query, as it was written, than its stack holds."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a query whose rows were the same both ways.

    `is_rejected`: the engine did not take the narrowed text, and `narrowed` has the rows as written.
    """

    pruned: PrunedQuery
    written: EngineResult
    narrowed: EngineResult
    is_rejected: bool = False

    @property
    def applied(self) -> Mapping[str, FilterRecord]:
        """Filters by the column that they narrow, as `table.column`."""
        found = (each for each in self.pruned.filters if each.is_applied)
        return {f"{each.probe.table.table}.{each.probe.columns[0]}": each for each in found}

    def files(self, table: str) -> Selection:
        """What the narrowed scans of a table read; one that was not needed is 0 of its total."""
        return _files((*self.narrowed.scans, *self.pruned.skipped), table)

    def files_as_written(self, table: str) -> Selection:
        """What the same scans read without a filter of ours."""
        return _files(self.written.scans, table)


class Harness:
    """A gateway's own parts, without the HTTP around them."""

    def __init__(self, gateway: Gateway, schema: str = SCHEMA) -> None:
        self._gateway = gateway
        self._ports = gateway._ports
        self._schema = schema

    def has_engine(self) -> bool:
        """Whether queries can run now."""
        return self._ports.engine.health().state is PartState.UP

    def check(
        self,
        sql: str,
        parameters: Parameters = (),
        *,
        is_rejected: bool = False,
        compares_files: bool = True,
    ) -> Checked:
        """Narrowed, at first, with cached keys, and with rows in memory, it has the rows of the query.

        With `compares_files`, it selects no more files of any table than the engine's own pruning does.

        The engine takes the narrowed texts. With `is_rejected` it must not take the first of them.

        Raises:
            EngineGaveUp: there are no rows to compare with.
        """
        written = self._written(sql, parameters)
        cold = self.prune(sql, parameters)
        narrowed = written
        if cold.rewritten_sql is not None:
            found = self._taken(cold, parameters)
            if not isinstance(found, EngineResult):
                assert is_rejected, f"rejected: {found.detail}\nas written: {sql}\nnarrowed:   {cold.sql}"
                return Checked(cold.as_written(sql), written, written, is_rejected=True)
            narrowed = found
            self._assert_alike(written, narrowed, sql, cold, compares_files)
        assert not is_rejected, f"the engine took it\nas written: {sql}\nnarrowed:   {cold.sql}"
        cached = self.prune(sql, parameters)
        if cached.sql != cold.sql:
            self._assert_alike(written, self.run(cached.sql, parameters, cached), sql, cached, compares_files)
        self._wait_for_relations()
        local = self.prune(sql, parameters)
        # A join that is dropped then has no relation in the text any more.
        if local.sql != cached.sql:
            self._assert_alike(written, self.run(local.sql, parameters, local), sql, local, compares_files)
        return Checked(cold, written, narrowed)

    def _assert_alike(
        self,
        written: EngineResult,
        narrowed: EngineResult,
        sql: str,
        pruned: PrunedQuery,
        compares_files: bool,
    ) -> None:
        """The same rows, and from no more files than by the engine's own pruning of the query as written."""
        _assert_same(written, narrowed, sql, pruned)
        if not compares_files:
            return
        more = more_files(written.scans, (*narrowed.scans, *pruned.skipped))
        assert not more, f"more files: {more}\nas written: {sql}\nnarrowed:   {pruned.sql}"

    def _written(self, sql: str, parameters: Parameters) -> EngineResult:
        try:
            return self.run(sql, parameters)
        except QueryFailed as failure:
            if failure.detail.startswith(GIVEN_UP):
                raise EngineGaveUp from failure
            raise

    def _taken(self, pruned: PrunedQuery, parameters: Parameters) -> EngineResult | GatewayError:
        """The rows of a narrowed text, or why a gateway would go back to the caller's own."""
        try:
            return self.run(pruned.sql, parameters, pruned)
        except (CallerError, QueryFailed) as failure:
            return failure

    def prune(self, sql: str, parameters: Parameters = ()) -> PrunedQuery:
        request = QueryRequest(sql, parameters, "lake", self._schema)
        pruned = self._ports.pruner.prune(request, is_canceled=lambda: False)
        assert pruned.otherwise is not Reason.COLLECT_FAILED, f"pruning failed: {sql}"
        return pruned

    def _wait_for_relations(self) -> None:
        """Until what the query asked for twice by now is in memory."""
        wait(list(self._ports.pruner._relations._pending.values()), PATIENCE_S)

    def run(self, sql: str, parameters: Parameters = (), pruned: PrunedQuery | None = None) -> EngineResult:
        statement = Statement(
            query_id=uuid4(),
            sql=sql,
            parameters=parameters,
            catalog="lake",
            schema=self._schema,
            row_limit=ROWS_AT_MOST,
            byte_limit=BYTES_AT_MOST,
            is_canceled=lambda: False,
            relations={} if pruned is None else pruned.relations,
            properties={} if pruned is None else pruned.properties,
        )
        result = self._ports.engine.run(statement)
        assert not result.is_truncated, f"the rows of this query cannot all be compared: {sql}"
        return result


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """The rows as a multiset."""
    columns = [column.to_pylist() for column in table.columns]
    return Counter(zip(*columns, strict=True)) if columns else Counter({(): table.num_rows})


def more_files(written: Iterable[ScanRecord], narrowed: Iterable[ScanRecord]) -> Sequence[str]:
    """The tables of which the second run selects more files than the first.

    Scans of one table are compared in the order of what they select. Where the first run has fewer of them,
    it has read one in several places, which may have been any.
    """
    before, after = _selected(written), _selected(narrowed)
    found: list[str] = []
    for table, counts in after.items():
        known = before.get(table, [0])
        if _are_more(known, counts):
            found.append(f"{table}: {counts}, of {known} as written")
    return found


def _are_more(known: list[int], counts: list[int]) -> bool:
    if len(counts) < len(known):
        # What several places read is narrowed by the keys of all of them, and is the same in each then: the
        # engine reads once what it would have read in parts, the whole of which is no more.
        return sum(counts) > sum(known)
    padded = sorted((*known, *(known[:1] * (len(counts) - len(known)))), reverse=True)
    return any(now > then for now, then in zip(counts, padded, strict=True))


def _selected(scans: Iterable[ScanRecord]) -> Mapping[str, list[int]]:
    """The numbers of files by tables, the largest first."""
    found: dict[str, list[int]] = {}
    for each in scans:
        found.setdefault(each.table, []).append(each.metrics.data_files.selected)
    return {table: sorted(counts, reverse=True) for table, counts in found.items()}


def _assert_same(written: EngineResult, narrowed: EngineResult, sql: str, pruned: PrunedQuery) -> None:
    expected, found = rows_of(written.rows), rows_of(narrowed.rows)
    missing = sorted((expected - found).elements(), key=repr)
    too_many = sorted((found - expected).elements(), key=repr)
    is_same = len(missing) == len(too_many) and all(map(_is_close, missing, too_many))
    assert is_same, (
        f"other rows\nas written: {sql}\nnarrowed:   {pruned.sql}\n"
        f"missing: {missing[:10]}\ntoo many: {too_many[:10]}"
    )


def _is_close(row: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether they are equal but for floating point, whose sums depend on the order."""
    return all(
        isclose(one, two, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(one, float) and isinstance(two, float)
        else one == two
        for one, two in zip(row, other, strict=True)
    )


def _files(scans: Iterable[ScanRecord], table: str) -> Selection:
    found = [each.metrics.data_files for each in scans if each.table.endswith(f".{table}")]
    return Selection(sum(each.total for each in found), sum(each.selected for each in found))
