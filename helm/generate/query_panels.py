"""The dashboard's panels of requests, queries, pruning and caches."""

from __future__ import annotations

from helm.generate.panels import GATEWAY, Panel, above, now, per_second, quantiles, share, total

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
