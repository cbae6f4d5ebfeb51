"""Files of tables that are cached in the driver's JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.model.operations.usage import CacheUse
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

EMPTY = CacheUse(0, 0, 0, 0, 0, 0)


class FileCache:
    """The use of the cache of one JVM; see `CachingFileIO.java`. It is empty if no catalog caches files."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "sluice.files.FileCacheUse")
        self._latest = EMPTY

    @property
    def use(self) -> CacheUse:
        """Returns the use when `update` was called last. Returns at once: the JVM is not asked."""
        return self._latest

    def update(self) -> None:
        """Asks the JVM for the use; call it regularly.

        Raises:
            Py4JError, OSError: the JVM does not answer.
        """
        entries, byte_count, hits, misses, evictions, max_bytes = map(int, str(self._java.use()).split())
        self._latest = CacheUse(entries, byte_count, max_bytes, hits, misses, evictions)
