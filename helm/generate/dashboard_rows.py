"""What the dashboard shows, row by row. docs/metrics.md says what each metric counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SELECTED = 'namespace=~"$namespace", job=~"$job", instance=~"$instance"'
GATEWAY = "{{instance}}"


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: `expressions` by their legends, in a unit of Grafana's."""

    title: str
    unit: str
    expressions: Mapping[str, str]
    description: str = ""


def now(metric: str) -> str:
    """A gauge of the gateways that were chosen.

    >>> now("sluice_ready")
    'sluice_ready{namespace=~"$namespace", job=~"$job", instance=~"$instance"}'
    """
    return f"{metric}{{{SELECTED}}}"


def per_second(counter: str, matcher: str = "") -> str:
    """How fast a counter grows."""
    return f"rate({counter}{{{SELECTED}{matcher}}}[$__rate_interval])"


def total(counter: str, matcher: str = "") -> str:
    """How fast a counter of all chosen gateways grows."""
    return f"sum({per_second(counter, matcher)})"


def quantiles(histogram: str) -> Mapping[str, str]:
    """The median, and what one in twenty and one in a hundred is above."""
    buckets = f"sum by (le) ({per_second(f'{histogram}_bucket')})"
    return {f"p{part * 100:g}": f"histogram_quantile({part}, {buckets})" for part in (0.5, 0.95, 0.99)}


def average(histogram: str) -> str:
    """The average of what was observed."""
    return f"{total(f'{histogram}_sum')} / {total(f'{histogram}_count')}"


FAILED, COMMITTED = ', state="FAILED"', ', state="COMMITTED"'
COLLECTED, CACHED = ', source="COLLECTED"', ', source="CACHED"'
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
        "Duration of queries",
        "s",
        quantiles("sluice_query_duration_seconds"),
        "From submission to end: the time in the queue is part of it.",
    ),
    Panel(
        "Queries that fail",
        "percentunit",
        {"of all": f"{total('sluice_queries_total', FAILED)} / {total('sluice_queries_total')}"},
    ),
)

PRUNING = (
    Panel(
        "Left out of what was scanned",
        "percentunit",
        {
            name: f"{total(f'{each}_skipped_total')} / {total(f'{each}_total')}"
            for name, each in SCANNED.items()
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
        "docs/guide.md explains each reason. APPLIED narrowed its scan.",
    ),
    Panel(
        "Queries that were verified",
        "cps",
        {"{{outcome}}": f"sum by (outcome) ({per_second('sluice_verifications_total')})"},
        "DIFFERENT: a narrowed query gave other rows.",
    ),
)

INGEST = (
    Panel(
        "Ingests by state", "reqps", {"{{state}}": f"sum by (state) ({per_second('sluice_ingests_total')})"}
    ),
    Panel(
        "Requests that were refused",
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
        "What waits for its commit",
        "short",
        {
            "ingests": f"sum({now('sluice_ingests_waiting')})",
            "tables and branches": f"max({now('sluice_ingest_tables_waiting')})",
        },
    ),
    Panel(
        "Time until what waits is committed",
        "s",
        {"estimated": f"sum({now('sluice_ingests_waiting')}) / {total('sluice_ingests_total', COMMITTED)}"},
        "Ingests that wait, over those that are committed in a second.",
    ),
    Panel("Duration of commit rounds", "s", quantiles("sluice_commit_seconds")),
    Panel(
        "Commit rounds",
        "cps",
        {
            "committed": total("sluice_commit_rounds_total"),
            "{{code}}": f"sum by (code) ({per_second('sluice_commit_rounds_refused_total')})",
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
        "Engines replaced within an hour", "short", {GATEWAY: f"increase({now('sluice_engine_lost')}[1h])"}
    ),
    Panel(
        "Given up, and not back yet",
        "short",
        {
            "calls and tasks": f"sum({now('sluice_engine_given_up')})",
            "workers": f"sum({now('sluice_workers_given_up')})",
        },
        "What goes on although nobody waits for it any more.",
    ),
    Panel(
        "Processes started within an hour",
        "short",
        {GATEWAY: f"changes({now('process_start_time_seconds')}[1h])"},
        "A restart that keeps the gateway's address.",
    ),
    Panel(
        "Memory of gateways, without Spark's JVM", "bytes", {GATEWAY: now("process_resident_memory_bytes")}
    ),
    Panel(
        "Cores used by gateways, without Spark's JVM",
        "short",
        {GATEWAY: per_second("process_cpu_seconds_total")},
    ),
    Panel(
        "Open files and connections",
        "percentunit",
        {GATEWAY: f"{now('process_open_fds')} / {now('process_max_fds')}"},
        "Of as many as the process may have.",
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
)

ROWS: Mapping[str, Sequence[Panel]] = {
    "Traffic and latency": TRAFFIC,
    "Pruning": PRUNING,
    "Ingest": INGEST,
    "Engine": ENGINE,
    "Caches": CACHES,
}
