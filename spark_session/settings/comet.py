"""Apache DataFusion Comet: a plugin of Spark that runs parts of plans natively."""

from __future__ import annotations

from collections.abc import Mapping

_PLUGIN = "org.apache.spark.CometPlugin"
_SHUFFLE_MANAGER = "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager"
_OWN_MANAGER = "spark.shuffle.manager"
PLUGINS = "spark.plugins"


def comet_properties(memory: str, given: Mapping[str, str]) -> dict[str, str]:
    """Returns the properties of Spark by which Comet runs; `given` are those of the operator.

    `memory` bounds what native operators and Spark's own take beside the heap, in each JVM that runs tasks. A
    plugin of the operator stays. With a shuffle manager of the operator, shuffles are Spark's.

    >>> properties = comet_properties("2g", {"spark.plugins": "org.example.Own"})
    >>> properties["spark.plugins"]
    'org.example.Own,org.apache.spark.CometPlugin'
    >>> properties["spark.memory.offHeap.size"], "spark.comet.shuffle.enabled" in properties
    ('2g', False)
    >>> comet_properties("2g", {"spark.shuffle.manager": "org.example.Own"})["spark.comet.shuffle.enabled"]
    'false'
    """
    named = [name.strip() for name in given.get(PLUGINS, "").split(",") if name.strip()]
    shuffles = (
        {"spark.comet.shuffle.enabled": "false"}
        if _OWN_MANAGER in given
        else {_OWN_MANAGER: _SHUFFLE_MANAGER}
    )
    return {
        "spark.memory.offHeap.enabled": "true",
        "spark.memory.offHeap.size": memory,
        # Sums of fractions, and comparisons with NaN and -0.0, are those of Spark, or stay with it.
        "spark.comet.exec.strictFloatingPoint": "true",
        **shuffles,
        PLUGINS: ",".join(dict.fromkeys((*named, _PLUGIN))),
    }
