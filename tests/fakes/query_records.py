"""Query records to store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from service.model.filters.dynamic_filter import Build, JoinType, Probe
from service.model.filters.filter_record import FilterRecord, Reason
from service.model.filters.key_set import FilterForm, FilterSource
from service.model.query.query import QueryError, QueryRecord, QueryState
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.model.query.scan_predicates import ScanPredicate
from service.model.query.verification import Verification
from service.model.tables.tables import TableName
from service.tracing import TraceContext

SUBMITTED_AT = datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=UTC)


def short_record(submitted_at: datetime = SUBMITTED_AT) -> QueryRecord:
    return QueryRecord(uuid4(), "ann", "SELECT 1", QueryState.SUCCEEDED, submitted_at)


def full_record() -> QueryRecord:
    """Returns a record in which every field differs from its default."""
    return QueryRecord(
        query_id=uuid4(),
        caller="ann",
        sql="SELECT 'ü', :year",
        state=QueryState.FAILED,
        submitted_at=SUBMITTED_AT,
        catalog="lake",
        schema="tpcds",
        request_id=uuid4(),
        fingerprint="ab" * 32,
        tags={"dashboard": "returns", "größe": "5"},
        error=QueryError("QUERY_FAILED", "Division by zero."),
        queued_ms=1,
        planning_ms=2,
        running_ms=3,
        row_count=4,
        byte_count=5 << 40,
        scans=(
            replace(
                scan("lake.tpcds.store_returns", 2003, 366),
                is_native=True,
                columns=("sr_item_sk", "größe"),
                predicates=(
                    ScanPredicate("sr_item_sk", ((None, 7), (9, 9), (1.5, None))),
                    ScanPredicate("größe", (("a", "b"),)),
                    ScanPredicate("sr_ticket_number", None),
                ),
            ),
            replace(scan("lake.tpcds.date_dim", 1, 0), has_run=False),
            replace(scan("lake.tpcds.item", 1, 1), is_native=None),
        ),
        spark_plan="== Physical Plan ==\n…",
        filters=(applied(), refused()),
        rewritten_sql="SELECT 'ü', :year -- pruned",
        rewrites=(
            RewriteRecord(RewriteKind.LOCAL_RELATION, "lake.tpcds.item", "3 rows where i_name = 'ü'", 2),
            RewriteRecord(RewriteKind.JOIN_ELIMINATED, "lake.tpcds.date_dim", "by the keys of ü", 3, "df1"),
        ),
        parse_ms=6,
        detect_ms=7,
        filters_ms=8,
        verification=Verification.SAME,
        trace=TraceContext("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", is_sampled=True),
    )


def filtered_record(
    sql: str,
    filters: Sequence[FilterRecord] = (),
    rewritten_sql: str | None = None,
    rewrites: Sequence[RewriteRecord] = (),
    scans: Sequence[ScanRecord] = (),
    spark_plan: str = "",
) -> QueryRecord:
    return QueryRecord(
        uuid4(),
        "ann",
        sql,
        QueryState.SUCCEEDED,
        SUBMITTED_AT,
        filters=tuple(filters),
        rewritten_sql=rewritten_sql,
        rewrites=tuple(rewrites),
        scans=tuple(scans),
        spark_plan=spark_plan,
    )


def applied(
    filter_id: str = "df1", probe: str = "lake.tpcds.store_returns", table_reference: int | None = 1
) -> FilterRecord:
    """Returns an applied filter in which every field differs from its default."""
    return FilterRecord(
        filter_id=filter_id,
        join_type=JoinType.INNER,
        probe=Probe(
            TableName(*probe.split(".")), ("sr_returned_date_sk",), ("int",), 2**63 - 1, "sr", table_reference
        ),
        build=Build((TableName("lake", "tpcds", "date_dim"),), ("d_date_sk",), "d_year = 2000", (2,)),
        source=FilterSource.COLLECTED,
        form=FilterForm.RANGES,
        reason=Reason.APPLIED,
        value_count=366,
        byte_count=2928,
        ranges=(("2451545", "2451910"), ("2452000", "2452001")),
        exceeds_threshold=True,
        collection_ms=17,
        cache_note="The filter cache does not answer.",
        detail="48 of 50 files overlap",
    )


def refused(reason: Reason = Reason.THRESHOLD_EXCEEDED) -> FilterRecord:
    """Returns a filter on a composite key of a snowflake that was not applied."""
    tables = (TableName("lake", "tpcds", "item"), TableName("lake", "eu.tpcds", "store"))
    return FilterRecord(
        filter_id="df2",
        join_type=JoinType.LEFT_SEMI,
        probe=Probe(TableName("lake", "tpcds", "store_sales"), ("a", "b"), ("int", "string"), None),
        build=Build(tables, ("x", "y"), "i_color = 'ü'", (3, None), is_union=True),
        source=FilterSource.NONE,
        form=FilterForm.NONE,
        reason=reason,
    )


def scan(table: str, total: int, selected: int) -> ScanRecord:
    metrics = PruningMetrics(
        partitions=Selection(total, selected),
        manifests=Selection(total * 2, selected * 2),
        data_files=Selection(total * 3, selected * 3),
        bytes=Selection(total << 40, selected << 40),
        rows=Selection(total * 5, selected * 5),
        planning_ms=12,
        row_groups=Selection(total * 7, selected * 7),
    )
    return ScanRecord(table, 2**63 - 1, metrics)
