"""The files whose tests run in one process, as they share what is slow to start."""

from __future__ import annotations

TOGETHER = {
    "chart": "chart",
    "console": "console",
    "contract": "sessions",
    "equivalence": "sessions",
    "integration": "gateways",
    "drill": "drill",
    "failover": "failover",
}
"""The scope of each folder. Tests of all other folders need nothing that is slow to start."""
OF_THEIR_OWN = frozenset(
    f"test_{name}.py"
    for name in (
        "authentication",
        "demo",
        "demo_data",
        "embedded_servers",
        "executor_pods",
        "fairness",
        "kafka_streams",
        "key_collector",
        "large_bodies",
        "lifecycle",
        "maintenance_schedule",
        "object_stores",
        "replicas",
        "secrets",
        "session_catalog",
        "shared_results",
        "traces",
    )
)
"""Integration test files that start servers of their own. Subfolders of `integration` do so too."""

ON_ONE_ENGINE = frozenset(
    f"test_{name}.py"
    for name in (
        "admitted_runs",
        "column_lineage",
        "data_files",
        "engine",
        "executor_results",
        "hidden_rows",
        "writer_on_executors",
        "written_off_engine",
    )
)
"""Integration test files that share an engine without a gateway, which the last one loses."""
