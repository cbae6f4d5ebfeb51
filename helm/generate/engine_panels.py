"""The dashboard's panels of the engine, and of the room that processes have."""

from __future__ import annotations

from helm.generate.panels import GATEWAY, Panel, now, per_second, ratio, share

HEAP, BESIDE_THE_HEAP, HIT = ', area="heap"', ', area!="heap"', ', outcome="HIT"'


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
