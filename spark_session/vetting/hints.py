"""Decisions on the hints of Spark. It ignores a hint that is not listed here."""

from __future__ import annotations

from collections.abc import Mapping

from spark_session.vetting.decision import Decision, allowed, bounded, table_of

HINTS: Mapping[str, Decision] = table_of(
    (
        bounded(
            "Sends the whole side to each executor.",
            "driver.maxResultSize",
            "BROADCAST BROADCASTJOIN MAPJOIN",
        ),
        allowed("Chooses how a join is run.", "MERGE MERGEJOIN SHUFFLE_MERGE SHUFFLE_HASH"),
        bounded("Joins each partition with each.", "max_query_tasks", "SHUFFLE_REPLICATE_NL"),
        bounded(
            "Chooses the number of partitions.",
            "max_partitions",
            "COALESCE REPARTITION REPARTITION_BY_RANGE REBALANCE",
        ),
    )
)
