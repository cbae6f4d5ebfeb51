"""A cache of our own in the driver's JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.model.operations.usage import CacheUse

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject


class JvmCache:
    """Its Java class says its use as entries, bytes, hits, misses and evictions, with blanks in between.

    If the JVM decides the largest size by itself, that comes last.
    """

    def __init__(self, java: JavaObject, max_bytes: int) -> None:
        self._java = java
        self._max_bytes = max_bytes
        self._latest = CacheUse(0, 0, max_bytes, 0, 0, 0)

    @property
    def java(self) -> JavaObject:
        """The cache itself, for classes in the JVM."""
        return self._java

    @property
    def use(self) -> CacheUse:
        """Returns the use when `update` was called last. Returns at once: the JVM is not asked."""
        return self._latest

    def clear(self) -> int:
        """Forgets all entries, and returns how many there were. A query that uses one now keeps it.

        Raises:
            Py4JError, OSError: the JVM does not answer.
        """
        count = int(self._java.clear())
        self.update()
        return count

    def update(self) -> None:
        """Asks the JVM for the use; call it regularly.

        Raises:
            Py4JError, OSError: the JVM does not answer.
        """
        entries, byte_count, hits, misses, evictions, *decided = map(int, str(self._java.use()).split())
        max_bytes = decided[0] if decided else self._max_bytes
        self._latest = CacheUse(entries, byte_count, max_bytes, hits, misses, evictions)
