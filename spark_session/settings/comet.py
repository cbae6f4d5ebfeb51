"""Apache DataFusion Comet: a plugin of Spark that runs parts of plans natively."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

_ARTIFACT = "org.apache.datafusion:comet-spark-spark4.1_2.13"
COMET_JARS = MappingProxyType(
    {f"{_ARTIFACT}:1.2.0": "5055c43dca9e8cce83c33b1ff25646d1436c94698ca48beb3475bf60843b8d37"}
)
"""It holds all that it needs beside Spark's own jars."""
_PLUGIN = "org.apache.spark.CometPlugin"
_SHUFFLE_MANAGER = "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager"
_OWN_MANAGER = "spark.shuffle.manager"
PLUGINS = "spark.plugins"


def names_comet(jars: Sequence[str]) -> bool:
    """Whether one of these coordinates or paths is Comet's, of any version.

    >>> names_comet(["org.apache.datafusion:comet-spark-spark4.1_2.13:1.3.0"])
    True
    >>> names_comet(["/jars/comet-spark-spark4.1_2.13-1.2.0.jar"]), names_comet(["/jars/iceberg.jar"])
    (True, False)
    """
    return any("comet-spark-spark" in jar for jar in jars)


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
