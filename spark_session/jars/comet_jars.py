"""The jar of Apache DataFusion Comet. It is large, so only gateways that use it fetch it."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

_ARTIFACT = "org.apache.datafusion:comet-spark-spark4.1_2.13"
COMET_JARS = MappingProxyType(
    {f"{_ARTIFACT}:1.2.0": "5055c43dca9e8cce83c33b1ff25646d1436c94698ca48beb3475bf60843b8d37"}
)
"""It needs nothing beside the jars of PySpark and of Iceberg."""


def names_comet(jars: Sequence[str]) -> bool:
    """Whether one of these coordinates or paths is Comet's, of any version.

    >>> names_comet(["org.apache.datafusion:comet-spark-spark4.1_2.13:1.3.0"])
    True
    >>> names_comet(["/jars/comet-spark-spark4.1_2.13-1.2.0.jar"]), names_comet(["/jars/iceberg.jar"])
    (True, False)
    """
    return any("comet-spark-spark" in jar for jar in jars)
