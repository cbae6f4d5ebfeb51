"""Files of tables that are cached in the driver's JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_session.java.jvm_cache import JvmCache
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


class FileCache(JvmCache):
    """The cache of one JVM; see `CachingFileIO.java`. It is empty if no catalog caches files."""

    def __init__(self, gateway: JavaGateway) -> None:
        super().__init__(java_instance(gateway, "sluice.files.FileCacheUse"), 0)
