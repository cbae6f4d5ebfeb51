"""Decides whether an analyzed query gives the same result each time, as long as its tables stay the same.

Names are those of Spark's classes. A query is not reused if it has a class that is not listed as harmless.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from service.model.query.reuse import Reusability
from spark_session.vetting.expressions import CALCULATING
from spark_session.vetting.plan_nodes import ANALYZED

OF_MOMENT_OR_CALLER = frozenset(
    {
        "CurrentBatchTimestamp",
        "CurrentCatalog",
        "CurrentDatabase",
        "CurrentDate",
        "CurrentTime",
        "CurrentTimeZone",
        "CurrentTimestamp",
        "CurrentUser",
        "LocalTimestamp",
        "Now",
        "SparkVersion",
    }
)
"""Spark calls them deterministic, as they are the same for all rows of one query."""

FILLS_IN_THE_DATE = frozenset({"CsvToStructs", "JsonToStructs", "VariantGet"})
"""They read texts as timestamps, and a timestamp without a date is one of today."""

OF_CHANCE = frozenset({"AesEncrypt", "ApplyFunctionExpression", "RandStr", "Uniform"})
"""They, or what they call, may give another value each time, whatever Spark says of them."""

OTHER_NODES = frozenset({"HiveTableRelation", "LogicalRelation", "Sample", "View"})
"""They read what has no snapshots, or a part of the rows that is chosen by chance."""


def reusability_of(found: Mapping[str, Any]) -> Reusability:
    """Returns whether the result may be reused, from the JSON of `ReuseFacts.java`."""
    expressions: Collection[str] = found["expressions"]
    if found["others"] or not OTHER_NODES.isdisjoint(found["nodes"]):
        return Reusability.OTHER_SOURCE
    if found["nondeterministic"] or not OF_CHANCE.isdisjoint(expressions):
        return Reusability.NONDETERMINISTIC
    if found["momentary"] or not (OF_MOMENT_OR_CALLER | FILLS_IN_THE_DATE).isdisjoint(expressions):
        return Reusability.TIME_DEPENDENT
    if not ANALYZED.issuperset(found["nodes"]) or not CALCULATING.issuperset(expressions):
        return Reusability.NOT_UNDERSTOOD
    return Reusability.REUSABLE
