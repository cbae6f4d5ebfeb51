"""Numbers of row groups that readers have selected, kept in the JVM for explanations and later scans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_session.java.jvm_cache import JvmCache
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


class RowGroupCounts(JvmCache):
    """The counts of one JVM; see `CountedReads.java`. With 0 bytes, readers are not counted.

    With `leaves_out_files`, scans that choose their files from memory leave out those of which readers have
    selected no row group by the same filter before.
    """

    def __init__(self, gateway: JavaGateway, max_bytes: int, leaves_out_files: bool = False) -> None:
        java = java_instance(gateway, "sluice.rowgroups.CountedReads")
        java.open(max_bytes, leaves_out_files)
        super().__init__(java, max_bytes)
