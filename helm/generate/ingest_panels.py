"""The dashboard's panels of ingests, streams and maintenance."""

from __future__ import annotations

from helm.generate.panels import GATEWAY, Panel, average, now, per_second, quantiles, share, total

FAILED, COMMITTED = ', state="FAILED"', ', state="COMMITTED"'


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
