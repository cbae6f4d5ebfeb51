"""Properties that switch off some of the engine's own optimizations for single statements."""

from __future__ import annotations

from collections.abc import Mapping

NATIVE_PRUNING = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
# Iceberg 1.12 answers MAX and MIN of whole files from their statistics. But not every writer records there
# which values are NaN, and in imported files it takes milliseconds for microseconds.
AGGREGATES_OF_STATISTICS = "spark.sql.iceberg.aggregate-push-down.enabled"
EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
# If rows in memory are filtered during planning, the plan has no filter on them any more. The engine's own
# pruning then sees a whole table, and prunes nothing by it.
PRESERVE_FILTERS: Mapping[str, str] = {
    EXCLUDED_RULES: "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
}
# A filtered scan may be smaller than a dimension. If it is broadcast instead of the dimension, the dimension
# no longer prunes it. `spark_session/java/sources/sluice/sessions/BroadcastSides.java` knows the property.
PRESERVE_PRUNED_SIDES: Mapping[str, str] = {"spark.sluice.keepsPrunedSides": "true"}


def switched_off(*names: str) -> Mapping[str, str]:
    """Returns the properties of a statement that runs without these optimizations.

    >>> switched_off(NATIVE_PRUNING)
    {'spark.sql.optimizer.dynamicPartitionPruning.enabled': 'false'}
    """
    return dict.fromkeys(names, "false")
