"""The groups of tests that run in one process, as they share what is slow to start."""

from __future__ import annotations

LONGEST = ("equivalence", "gateways", "contract")
"""The groups that take longest. They start first, so that no process is left alone with one at the end."""
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
        "object_results",
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


def group_of(nodeid: str) -> str:
    """Returns the name of the group of a test."""
    _, folder, *below = nodeid.partition("::")[0].split("/")
    if folder == "unit":
        return f"{folder}/{below[0]}"
    if folder != "integration":
        return folder
    if len(below) > 1 or below[0] in OF_THEIR_OWN:
        return f"{folder}/{below[0]}"
    return "engine" if below[0] in ON_ONE_ENGINE else "gateways"


def turn_of(group: str) -> int:
    """Returns whether a group starts early: the smaller, the earlier."""
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)
