"""What of the engine's own optimizing is switched off for single statements, by the properties that do it."""

from __future__ import annotations

from collections.abc import Mapping

NATIVE_PRUNING = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
# Iceberg 1.12 answers MAX and MIN of whole files from their statistics: not every writer says there which
# values are NaN, and of imported files it takes milliseconds for microseconds.
AGGREGATES_OF_STATISTICS = "spark.sql.iceberg.aggregate-push-down.enabled"
EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
# Rows in memory that are filtered while the query is planned have no filter in the plan any more: to the
# engine's own pruning they are a whole table, by which it prunes nothing.
KEEPS_FILTERS: Mapping[str, str] = {
    EXCLUDED_RULES: "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
}
# A narrowed scan may be smaller than a dimension. Broadcast in its place, it is pruned by that one no more.
# `spark_session/resources/BroadcastSides.java` knows the property.
KEEPS_PRUNED_SIDES: Mapping[str, str] = {"spark.sluice.keepsPrunedSides": "true"}


def switched_off(*names: str) -> Mapping[str, str]:
    """The properties of a statement that runs without these.

    >>> switched_off(NATIVE_PRUNING)
    {'spark.sql.optimizer.dynamicPartitionPruning.enabled': 'false'}
    """
    return dict.fromkeys(names, "false")
