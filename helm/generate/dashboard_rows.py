"""The dashboard's contents, row by row. docs/reference/metrics.md says what each metric counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SELECTED = 'namespace=~"$namespace", job=~"$job", instance=~"$instance"'
GATEWAY = "{{instance}}"


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: `expressions` by their legends, in one of Grafana's units."""

    title: str
    unit: str
    expressions: Mapping[str, str]
    description: str = ""


def now(metric: str, matcher: str = "") -> str:
    """Returns a gauge of the chosen gateways.

    >>> now("sluice_ready")
    'sluice_ready{namespace=~"$namespace", job=~"$job", instance=~"$instance"}'
    """
    return f"{metric}{{{SELECTED}{matcher}}}"


def per_second(counter: str, matcher: str = "") -> str:
    """Returns the growth of a counter per second."""
    return f"rate({counter}{{{SELECTED}{matcher}}}[$__rate_interval])"


def total(counter: str, matcher: str = "") -> str:
    """Returns the growth of a counter per second, for all chosen gateways together."""
    return f"sum({per_second(counter, matcher)})"


def quantiles(histogram: str) -> Mapping[str, str]:
    """Returns the median, and the 95th and 99th percentiles."""
    buckets = f"sum by (le) ({per_second(f'{histogram}_bucket')})"
    return {f"p{part * 100:g}": f"histogram_quantile({part}, {buckets})" for part in (0.5, 0.95, 0.99)}


def above(histogram: str, by: str = "") -> str:
    """Returns the 95th percentile of each series with these labels."""
    return f"histogram_quantile(0.95, sum by ({by}le) ({per_second(f'{histogram}_bucket')}))"


def ratio(gauge: str, bound: str, matcher: str = "") -> str:
    """Returns the share of its bound that a gauge has reached, for each gateway."""
    return f"{now(gauge, matcher)} / {now(bound, matcher)}"


def share(part: str, whole: str, label: str) -> str:
    """Returns the ratio of two sums, by a label."""
    return f"sum by ({label}) ({part}) / sum by ({label}) ({whole})"


def average(histogram: str) -> str:
    """Returns the average of the observed values."""
    return f"{total(f'{histogram}_sum')} / {total(f'{histogram}_count')}"


FAILED, COMMITTED = ', state="FAILED"', ', state="COMMITTED"'
COLLECTED, CACHED = ', source="COLLECTED"', ', source="CACHED"'
HEAP, BESIDE_THE_HEAP, HIT = ', area="heap"', ', area!="heap"', ', outcome="HIT"'
WITH_KEYS = ', source=~"CACHED|COLLECTED"'
SCANNED = {"files": "sluice_scan_data_files", "bytes": "sluice_scan_bytes"}

TRAFFIC = (
    Panel(
        "Queries by state", "reqps", {"{{state}}": f"sum by (state) ({per_second('sluice_queries_total')})"}
    ),
    Panel(
        "Queries that wait or run", "short", {"{{state}}": f"sum by (state) ({now('sluice_queries_open')})"}
    ),
    Panel(
        "Queries that wait, by resource group",
        "short",
        {"{{group}}": f"sum by (group) ({now('sluice_resource_group_queued')})"},
        "Groups of single callers count as one.",
    ),
    Panel(
        "Queries that run, by resource group",
        "short",
        {"{{group}}": f"sum by (group) ({now('sluice_resource_group_running')})"},
    ),
    Panel(
        "Wait of queries, 95th percentile by resource group",
        "s",
        {"{{group}} {{query_class}}": above("sluice_resource_group_wait_seconds", "group, query_class, ")},
        "From submission until the group let the query run, with the time to plan it.",
    ),
    Panel(
        "Queries refused by resource groups",
        "reqps",
        {
            "{{group}} {{code}}": "sum by (group, code) ("
            + per_second("sluice_resource_group_refused_total")
            + ")"
        },
    ),
    Panel(
        "Duration of queries",
        "s",
        quantiles("sluice_query_duration_seconds"),
        "From submission to end, including the time in the queue.",
    ),
    Panel(
        "Where the time of queries goes",
        "s",
        {part: above(f"sluice_query_{part}_seconds") for part in ("queue", "planning", "running")},
        "The 95th percentile of each part.",
    ),
    Panel(
        "Queries by caller class",
        "reqps",
        {"{{caller_class}}": f"sum by (caller_class) ({per_second('sluice_queries_total')})"},
        "The setting caller_classes assigns callers to classes.",
    ),
    Panel(
        "Share of queries that fail",
        "percentunit",
        {"of all": f"{total('sluice_queries_total', FAILED)} / {total('sluice_queries_total')}"},
    ),
    Panel(
        "Query errors by code",
        "cps",
        {"{{code}}": f"sum by (code) ({per_second('sluice_query_errors_total')})"},
        "docs/reference/errors.md explains each code.",
    ),
    Panel(
        "Requests by route",
        "reqps",
        {"{{method}} {{route}}": f"sum by (method, route) ({per_second('sluice_http_requests_total')})"},
    ),
    Panel(
        "Requests by status",
        "reqps",
        {"{{status}}": f"sum by (status) ({per_second('sluice_http_requests_total')})"},
        "gone: the client disconnected before an answer.",
    ),
    Panel(
        "Duration of requests, 95th percentile",
        "s",
        {"{{method}} {{route}}": above("sluice_http_request_duration_seconds", "method, route, ")},
        "Includes the wait for a result.",
    ),
    Panel(
        "Open connections and requests",
        "short",
        {
            f"connections {GATEWAY}": now("sluice_http_connections"),
            f"requests {GATEWAY}": now("sluice_http_requests_open"),
        },
    ),
)

PRUNING = (
    Panel(
        "Share of scanned tables that was skipped",
        "percentunit",
        {
            name: f"{total(f'{metric}_skipped_total')} / {total(f'{metric}_total')}"
            for name, metric in SCANNED.items()
        },
    ),
    Panel(
        "Data files of scanned tables",
        "cps",
        {
            "all": total("sluice_scan_data_files_total"),
            "left out": total("sluice_scan_data_files_skipped_total"),
        },
    ),
    Panel(
        "Bytes of scanned tables",
        "Bps",
        {"all": total("sluice_scan_bytes_total"), "left out": total("sluice_scan_bytes_skipped_total")},
    ),
    Panel(
        "Filters by source", "cps", {"{{source}}": f"sum by (source) ({per_second('sluice_filters_total')})"}
    ),
    Panel(
        "Filters by reason",
        "cps",
        {"{{reason}}": f"sum by (reason) ({per_second('sluice_filters_total')})"},
        "docs/reference/pruned-sql.md explains each reason. APPLIED: the filter pruned its scan.",
    ),
    Panel(
        "Verified queries",
        "cps",
        {"{{outcome}}": f"sum by (outcome) ({per_second('sluice_verifications_total')})"},
        "DIFFERENT: a pruned query gave other rows than the query as written.",
    ),
)

INGEST = (
    Panel(
        "Ingests by state", "reqps", {"{{state}}": f"sum by (state) ({per_second('sluice_ingests_total')})"}
    ),
    Panel(
        "Refused ingest requests",
        "reqps",
        {"{{code}}": f"sum by (code) ({per_second('sluice_ingests_refused_total')})"},
    ),
    Panel(
        "Rows",
        "rowsps",
        {
            "accepted": total("sluice_ingest_rows_total"),
            "rejected": total("sluice_ingest_rejected_records_total"),
        },
    ),
    Panel("Bytes written", "Bps", {"data files": total("sluice_ingest_bytes_total")}),
    Panel("Data files written", "cps", {"data files": total("sluice_ingest_files_total")}),
    Panel("Time until an ingest is accepted", "s", quantiles("sluice_ingest_write_seconds")),
    Panel(
        "Waiting for a commit",
        "short",
        {
            "ingests": f"sum({now('sluice_ingests_waiting')})",
            "tables and branches": f"max({now('sluice_ingest_tables_waiting')})",
        },
    ),
    Panel(
        "Time until the backlog is committed",
        "s",
        {"estimated": f"sum({now('sluice_ingests_waiting')}) / {total('sluice_ingests_total', COMMITTED)}"},
        "Waiting ingests, divided by the commits in a second.",
    ),
    Panel("Age of the oldest waiting ingest", "s", {"oldest": f"max({now('sluice_ingest_oldest_seconds')})"}),
    Panel("Time from acceptance to the table", "s", quantiles("sluice_ingest_commit_lag_seconds")),
    Panel("Duration of commit rounds", "s", quantiles("sluice_commit_seconds")),
    Panel(
        "Commit rounds",
        "cps",
        {
            "committed": total("sluice_commit_rounds_total"),
            "refused {{code}}": f"sum by (code) ({per_second('sluice_commit_rounds_refused_total')})",
            "postponed {{code}}": f"sum by (code) ({per_second('sluice_commit_rounds_postponed_total')})",
        },
    ),
    Panel(
        "In one commit round, on average",
        "short",
        {
            "ingests": average("sluice_commit_round_ingests"),
            "write targets": average("sluice_commit_round_write_targets"),
        },
    ),
)

STREAMS = (
    Panel(
        "Streams by state",
        "short",
        {
            "{{state}}": f"max by (state) ({now('sluice_streams')})",
            "run by a gateway": f"sum({now('sluice_streams_run_here')})",
        },
        "FAILED streams stay until they are resumed.",
    ),
    Panel(
        "Longest time without a batch or an empty source",
        "s",
        {GATEWAY: now("sluice_stream_lag_seconds")},
    ),
    Panel("Unread messages", "short", {GATEWAY: now("sluice_stream_lag_messages")}, "Of Kafka."),
    Panel(
        "Batches and failed runs",
        "cps",
        {
            "batches": total("sluice_stream_batches_total"),
            "{{code}}": f"sum by (code) ({per_second('sluice_stream_failures_total')})",
        },
    ),
    Panel(
        "Maintenance of tables by outcome",
        "short",
        {"{{outcome}}": f"sum by (outcome) (increase({now('sluice_maintenance_runs_total')}[1h]))"},
        "Within an hour.",
    ),
    Panel(
        "Duration of maintenance, on average",
        "s",
        {
            "{{operation}}": share(
                per_second("sluice_maintenance_operation_seconds_sum"),
                per_second("sluice_maintenance_operation_seconds_count"),
                "operation",
            )
        },
    ),
)

ENGINE = (
    Panel(
        "Gateways and engines",
        "short",
        {
            "gateways": f"count({now('sluice_ready')})",
            "ready": f"sum({now('sluice_ready')})",
            "engines that answer": f"sum({now('sluice_engine_up')})",
        },
    ),
    Panel(
        "Engines replaced within an hour",
        "short",
        {"{{reason}}": f"sum by (reason) (increase({now('sluice_engine_replaced_total')}[1h]))"},
    ),
    Panel(
        "Trial query not answered for",
        "s",
        {GATEWAY: now("sluice_engine_silent_seconds")},
        "At engine_unresponsive_s the engine is replaced.",
    ),
    Panel(
        "Given up, but still running",
        "short",
        {
            "calls and tasks": f"sum({now('sluice_engine_given_up')})",
            "workers": f"sum({now('sluice_workers_given_up')})",
        },
        "Work that continues although no query waits for it.",
    ),
    Panel(
        "Heap of the JVM",
        "percentunit",
        {GATEWAY: ratio("sluice_jvm_memory_used_bytes", "sluice_jvm_memory_max_bytes", HEAP)},
        "Share of its maximum.",
    ),
    Panel(
        "Metaspace and buffers of the JVM",
        "bytes",
        {f"{{{{area}}}} {GATEWAY}": now("sluice_jvm_memory_used_bytes", BESIDE_THE_HEAP)},
    ),
    Panel(
        "Time of the JVM in garbage collection",
        "percentunit",
        {GATEWAY: now("sluice_jvm_gc_share")},
        "At engine_max_collection_percent the engine is replaced.",
    ),
    Panel("Threads of the JVM", "short", {GATEWAY: now("sluice_jvm_threads")}),
    Panel(
        "Cores used",
        "short",
        {
            f"gateway {GATEWAY}": per_second("process_cpu_seconds_total"),
            f"JVM {GATEWAY}": per_second("sluice_jvm_process_cpu_seconds_total"),
        },
    ),
    Panel(
        "Processes started within an hour",
        "short",
        {GATEWAY: f"changes({now('process_start_time_seconds')}[1h])"},
        "A restart that keeps the gateway's address.",
    ),
)

ROOM = (
    Panel(
        "Parts that are up",
        "short",
        {"{{part}}": f"min by (part) ({now('sluice_part_up')})"},
        "0: down for at least one of the chosen gateways.",
    ),
    Panel(
        "Memory of the container",
        "percentunit",
        {GATEWAY: f"{now('sluice_memory_used_bytes')} / {now('sluice_memory_limit_bytes')}"},
        "Share of its limit; without a limit, of the machine's memory.",
    ),
    Panel(
        "Memory of the processes",
        "bytes",
        {
            f"gateway {GATEWAY}": now("process_resident_memory_bytes"),
            f"JVM {GATEWAY}": now("sluice_jvm_process_resident_memory_bytes"),
        },
    ),
    Panel(
        "Free disk space",
        "percentunit",
        {GATEWAY: f"{now('sluice_disk_free_bytes')} / {now('sluice_disk_size_bytes')}"},
        "Share of the disk of data_dir.",
    ),
    Panel(
        "Threads, processes and connections in use",
        "percentunit",
        {"{{pool}}": share(now("sluice_pool_busy"), now("sluice_pool_size"), "pool")},
        "Share of the pool's size. Above 1: extra connections to PostgreSQL, opened for a moment.",
    ),
    Panel(
        "Threads for requests in use",
        "percentunit",
        {"{{lane}}": share(now("sluice_lane_busy"), now("sluice_lane_size"), "lane")},
    ),
    Panel(
        "Waiting for a worker or a thread",
        "short",
        {
            "{{pool}}": f"sum by (pool) ({now('sluice_pool_waiting')})",
            "{{lane}}": f"sum by (lane) ({now('sluice_lane_waiting')})",
        },
    ),
    Panel(
        "Query records that wait for PostgreSQL",
        "short",
        {
            "waiting": f"sum({now('sluice_query_records_waiting')})",
            "lost within an hour": f"sum(increase({now('sluice_query_records_dropped_total')}[1h]))",
        },
    ),
    Panel(
        "Audit events that wait for PostgreSQL",
        "short",
        {
            "waiting": f"sum({now('sluice_audit_events_waiting')})",
            "lost within an hour": f"sum(increase({now('sluice_audit_events_dropped_total')}[1h]))",
            "refused within an hour": f"sum(increase({now('sluice_audit_requests_refused_total')}[1h]))",
        },
    ),
    Panel(
        "Open files and connections",
        "percentunit",
        {GATEWAY: f"{now('process_open_fds')} / {now('process_max_fds')}"},
        "Share of the maximum.",
    ),
)

CACHES = (
    Panel(
        "Filters whose keys were cached",
        "percentunit",
        {
            "of those with keys": f"{total('sluice_filter_cache_hits_total')} / "
            f"{total('sluice_filters_total', WITH_KEYS)}"
        },
    ),
    Panel(
        "Keys of filters",
        "cps",
        {
            "cached": total("sluice_filters_total", CACHED),
            "collected": total("sluice_filters_total", COLLECTED),
        },
    ),
    Panel("Time to collect a filter's keys", "s", quantiles("sluice_filter_collect_seconds")),
    Panel(
        "Failed calls of the filter cache",
        "cps",
        {"{{kind}}": f"sum by (kind) ({per_second('sluice_filter_cache_errors_total')})"},
    ),
    Panel(
        "Cache hits",
        "percentunit",
        {
            "{{cache}}": share(
                per_second("sluice_cache_requests_total", HIT),
                per_second("sluice_cache_requests_total"),
                "cache",
            )
        },
    ),
    Panel(
        "Fill level of caches",
        "percentunit",
        {"{{cache}}": share(now("sluice_cache_bytes"), now("sluice_cache_max_bytes"), "cache")},
        "Share of the maximum size in bytes.",
    ),
)

ROWS: Mapping[str, Sequence[Panel]] = {
    "Traffic and latency": TRAFFIC,
    "Pruning": PRUNING,
    "Ingest": INGEST,
    "Streams and maintenance": STREAMS,
    "Engine": ENGINE,
    "Room": ROOM,
    "Caches": CACHES,
}
