"""Runs one query as written and pruned, and compares the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from math import isclose
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import pyarrow as pa

from service.errors.gateway_error import CallerError, GatewayError
from service.errors.query_errors import QueryFailed
from service.gateway import Gateway
from service.model.filters.filter_record import FilterRecord, Reason
from service.model.operations.health import PartState
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.planned_work import PlannedWork
from service.model.query.query import Parameters, QueryRequest
from service.model.query.scan_metrics import ScanRecord, Selection
from service.ports.engine.query_engine import EngineResult, Statement
from service.query.execution.pinned_states import pinned_states
from service.query.filtering.pruned_query import PrunedQuery
from tests.equivalence.lakehouse import SCHEMA
from tests.equivalence.reused_scans import reused_scans
from tests.thorough import PLANS_FROM_MEMORY, WITH_COMET

ROWS_AT_MOST = 500_000
BYTES_AT_MOST = 200 << 20
PATIENCE_S = 30.0
NONE_REUSED: Mapping[str, int] = MappingProxyType({})
PLANS_SWITCH = "spark.sluice.plansScansFromMemory"
WITHOUT_COMET: Mapping[str, str] = MappingProxyType({"spark.comet.enabled": "false"})
GIVEN_UP = ("The engine gave this query up", "The query is too deep")


class EngineGaveUp(Exception):
    """The engine's optimizer overflowed its stack on a query as it was written."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A query whose rows were the same both ways.

    If `is_rejected`, the engine rejected the pruned text, and `filtered` has the rows of the query as
    written.
    """

    pruned: PrunedQuery
    written: EngineResult
    filtered: EngineResult
    is_rejected: bool = False

    @property
    def applied(self) -> Mapping[str, FilterRecord]:
        """Returns the applied filters by the column that they filter, as `table.column`."""
        found = (filter_record for filter_record in self.pruned.filters if filter_record.is_applied)
        return {
            f"{filter_record.probe.table.table}.{filter_record.probe.columns[0]}": filter_record
            for filter_record in found
        }

    def files(self, table: str) -> Selection:
        """Returns the files that the pruned scans of a table read; a skipped scan is 0 of its total."""
        return _files((*self.filtered.scans, *self.pruned.skipped), table)

    def files_as_written(self, table: str) -> Selection:
        """Returns the files that the same scans read without our filters."""
        return _files(self.written.scans, table)


class Harness:
    """The parts of a gateway without its HTTP layer.

    `properties` are engine settings for pruned queries that read relations from memory. With
    `plans_from_memory`, pruned queries choose their files from kept entries of manifests; queries as written
    never do. With `keeps_plans`, pruned texts that were asked before are not analyzed again.
    """

    def __init__(
        self,
        gateway: Gateway,
        schema: str = SCHEMA,
        access: Access = FULL_ACCESS,
        properties: Mapping[str, str] = MappingProxyType({}),
        plans_from_memory: bool = PLANS_FROM_MEMORY,
        keeps_plans: bool = False,
    ) -> None:
        self._gateway = gateway
        self._ports = gateway.queries.ports
        self._schema = schema
        self.access = access
        self._properties = properties
        self._plans_from_memory = plans_from_memory
        self._keeps_plans = keeps_plans

    def has_engine(self) -> bool:
        """Returns whether queries can run now."""
        return self._ports.engine.health().state is PartState.UP

    def check(
        self,
        sql: str,
        parameters: Parameters = (),
        *,
        is_rejected: bool = False,
        compares_files: bool = True,
    ) -> Checked:
        """Checks that a query has the same rows when pruned cold, with cached keys, and with local relations.

        With `compares_files`, it must not select more files of any table than the engine's own pruning does.

        The engine must accept the pruned texts; with `is_rejected`, it must reject the first of them.

        Raises:
            EngineGaveUp: there are no rows to compare with.
        """
        written = self.written(sql, parameters)
        if WITH_COMET:
            self._assert_same_by_comet(written, sql, parameters)
        cold = self.prune(sql, parameters)
        filtered = written
        if cold.rewritten_sql is not None:
            found = self._taken(cold, parameters)
            if not isinstance(found, EngineResult):
                assert is_rejected, f"rejected: {found.detail}\nas written: {sql}\npruned:     {cold.sql}"
                return Checked(cold.as_written(sql), written, written, is_rejected=True)
            filtered = found
            self._assert_alike(written, filtered, sql, cold, compares_files)
        assert not is_rejected, f"the engine took it\nas written: {sql}\npruned:     {cold.sql}"
        cached = self.prune(sql, parameters)
        if cached.sql != cold.sql:
            self._assert_alike(written, self.run(cached.sql, parameters, cached), sql, cached, compares_files)
        self.wait_for_relations()
        local = self.prune(sql, parameters)
        # When a join is eliminated, the text no longer has its relation.
        if local.sql != cached.sql:
            self._assert_alike(written, self.run(local.sql, parameters, local), sql, local, compares_files)
        return Checked(cold, written, filtered)

    def _assert_same_by_comet(self, written: EngineResult, sql: str, parameters: Parameters) -> None:
        found = self.run(sql, parameters, by_comet=True)
        different = different_rows(written.rows, found.rows)
        assert not different, f"other rows by Comet\nas written: {sql}\n{different}"

    def _assert_alike(
        self,
        written: EngineResult,
        filtered: EngineResult,
        sql: str,
        pruned: PrunedQuery,
        compares_files: bool,
    ) -> None:
        """Asserts that rows are the same, from no more files than with the engine's own pruning."""
        _assert_same(written, filtered, sql, pruned)
        if not compares_files:
            return
        scans = (*filtered.scans, *pruned.skipped)
        # Plans are rendered only where the scans alone do not explain the difference.
        more = more_files(written.scans, scans) and more_files(
            written.scans, scans, reused_scans(written.plan_text())
        )
        assert not more, f"more files: {more}\nas written: {sql}\npruned:     {pruned.sql}"

    def written(self, sql: str, parameters: Parameters = ()) -> EngineResult:
        """Runs a query as written.

        Raises:
            EngineGaveUp: the engine's optimizer overflowed its stack.
        """
        try:
            return self.run(sql, parameters)
        except QueryFailed as failure:
            if failure.detail.startswith(GIVEN_UP):
                raise EngineGaveUp from failure
            raise

    def _taken(self, pruned: PrunedQuery, parameters: Parameters) -> EngineResult | GatewayError:
        """Returns the rows of a pruned text, or the error for which a gateway would run the original text."""
        try:
            return self.run(pruned.sql, parameters, pruned)
        except (CallerError, QueryFailed) as failure:
            return failure

    def prune(self, sql: str, parameters: Parameters = ()) -> PrunedQuery:
        request = QueryRequest(sql, parameters, "lake", self._schema)
        pruned = self._ports.pruner.prune(request, self.access, is_canceled=lambda: False)
        assert pruned.otherwise is not Reason.COLLECT_FAILED, f"pruning failed: {sql}"
        return pruned

    def wait_for_relations(self) -> None:
        """Waits until the rows that the query has requested are in memory."""
        wait(list(self._ports.pruner._relations._fetches._running.values()), PATIENCE_S)

    def run(
        self,
        sql: str,
        parameters: Parameters = (),
        pruned: PrunedQuery | None = None,
        admit: Callable[[PlannedWork], str] | None = None,
        *,
        by_comet: bool = False,
    ) -> EngineResult:
        """Runs a pruned text, or a text as it is written.

        If the tests run with Comet, it runs the former, and the latter only with `by_comet`.
        """
        statement = Statement(
            query_id=uuid4(),
            sql=sql,
            parameters=parameters,
            catalog="lake",
            schema=self._schema,
            row_limit=ROWS_AT_MOST,
            byte_limit=BYTES_AT_MOST,
            is_canceled=lambda: False,
            access=self.access,
            relations={} if pruned is None else pruned.relations,
            properties=self._properties_of(pruned, by_comet=by_comet),
            states=pinned_states(pruned, sql, parameters) if pruned is not None and self._keeps_plans else {},
            admit=admit,
            tuple_filters=() if pruned is None else pruned.tuples,
        )
        result = self._ports.engine.run(statement)
        assert not result.is_truncated, f"the rows of this query cannot all be compared: {sql}"
        return result

    def _properties_of(self, pruned: PrunedQuery | None, *, by_comet: bool) -> Mapping[str, str]:
        if pruned is None:
            by_spark = WITHOUT_COMET if WITH_COMET and not by_comet else {}
            return {PLANS_SWITCH: "false", **by_spark}
        of_relations = self._properties if pruned.relations else {}
        return {**pruned.properties, **of_relations, PLANS_SWITCH: str(self._plans_from_memory).lower()}


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """Returns the rows as a multiset."""
    columns = [column.to_pylist() for column in table.columns]
    return Counter(zip(*columns, strict=True)) if columns else Counter({(): table.num_rows})


def different_rows(expected: pa.Table, found: pa.Table) -> str:
    """Returns some rows that only one of the tables has; empty if they are equal, up to rounding."""
    all_expected, all_found = rows_of(expected), rows_of(found)
    missing = sorted((all_expected - all_found).elements(), key=repr)
    too_many = sorted((all_found - all_expected).elements(), key=repr)
    if len(missing) == len(too_many) and all(map(_is_close, missing, too_many)):
        return ""
    return f"missing: {missing[:10]}\ntoo many: {too_many[:10]}"


def more_files(
    written: Iterable[ScanRecord], filtered: Iterable[ScanRecord], reused: Mapping[str, int] = NONE_REUSED
) -> Sequence[str]:
    """Returns the tables from which the second run selects more files than the first.

    Scans of one table are compared in descending order of their files. If the first run has fewer scans, it
    read one of them in several places; as this can be any scan, the largest is repeated. So it is as often as
    the first run `reused` one, by table.
    """
    before, after = _selected(written), _selected(filtered)
    found: list[str] = []
    for table, counts in after.items():
        known = before.get(table, [0])
        if table in reused:
            known = [*known[:1] * reused[table], *known][: max(len(known), len(counts))]
        if _are_more(known, counts):
            found.append(f"{table}: {counts}, of {known} as written")
    return found


def selected_by(scans: Iterable[ScanRecord]) -> list[str]:
    """Returns what scans selected, in an order of its own, but for what depends on the moment.

    Row groups are counted by readers, and a query that has all of its rows leaves some files unopened.
    """
    return sorted(
        repr(replace(scan, metrics=replace(scan.metrics, planning_ms=0, row_groups=None))) for scan in scans
    )


def _are_more(known: list[int], counts: list[int]) -> bool:
    if len(counts) < len(known):
        # A relation that several places read is filtered by the keys of all of them, so its scans are equal,
        # and the engine reads it once. It must not read more than all the separate scans together.
        return sum(counts) > sum(known)
    padded = sorted((*known, *(known[:1] * (len(counts) - len(known)))), reverse=True)
    return any(now > then for now, then in zip(counts, padded, strict=True))


def _selected(scans: Iterable[ScanRecord]) -> Mapping[str, list[int]]:
    """Returns the number of files of each scan by table, the largest first."""
    found: dict[str, list[int]] = {}
    for scan in scans:
        found.setdefault(scan.table, []).append(scan.metrics.data_files.selected)
    return {table: sorted(counts, reverse=True) for table, counts in found.items()}


def _assert_same(written: EngineResult, filtered: EngineResult, sql: str, pruned: PrunedQuery) -> None:
    different = different_rows(written.rows, filtered.rows)
    assert not different, f"other rows\nas written: {sql}\npruned:     {pruned.sql}\n{different}"


def _is_close(row: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Returns whether rows are equal, up to rounding: floating-point sums depend on the order."""
    return all(
        isclose(one, two, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(one, float) and isinstance(two, float)
        else one == two
        for one, two in zip(row, other, strict=True)
    )


def _files(scans: Iterable[ScanRecord], table: str) -> Selection:
    found = [scan.metrics.data_files for scan in scans if scan.table.endswith(f".{table}")]
    return Selection(
        sum(selection.total for selection in found), sum(selection.selected for selection in found)
    )
