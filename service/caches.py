"""The caches of one gateway, by name: what is in them, and how each is emptied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from service.errors.cache_errors import CacheNotEmptiable, CacheNotFound
from service.model.operations.usage import CacheUse


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache, or another store with a bound in bytes.

    `use` never blocks. `empty` forgets all entries, and returns how many there were; it may block, and raise
    PartDown. None: the entries cannot be made again.
    """

    use: Callable[[], CacheUse]
    empty: Callable[[], int] | None = None


class Caches:
    """Caches are added at the start. From then on, any thread may call any method.

    >>> caches = Caches()
    >>> caches.add("tables", lambda: CacheUse(2, 300, 1_000), lambda: 2)
    >>> caches.uses()["tables"].entries, caches.empty("tables")
    (2, 2)
    """

    def __init__(self) -> None:
        self._caches: dict[str, Cache] = {}

    def add(self, name: str, use: Callable[[], CacheUse], empty: Callable[[], int] | None = None) -> None:
        """Adds a cache; see `Cache` for the two functions."""
        self._caches[name] = Cache(use, empty)

    def uses(self) -> Mapping[str, CacheUse]:
        """Returns the current use of each cache, in the order in which they were added. Returns at once."""
        return {name: cache.use() for name, cache in self._caches.items()}

    def is_emptiable(self, name: str) -> bool:
        """Whether the entries of this cache can be made again."""
        return self._caches[name].empty is not None

    def empty(self, name: str) -> int:
        """Forgets all entries of a cache, and returns how many there were. Blocks.

        Raises:
            CacheNotFound: there is no cache of this name.
            CacheNotEmptiable: its entries cannot be made again.
            PartDown: a server or the engine does not answer; entries of this process are gone all the same.
        """
        cache = self._caches.get(name)
        if cache is None:
            raise CacheNotFound(f"There is no cache {name!r}. GET /caches lists them.")
        if cache.empty is None:
            raise CacheNotEmptiable(f"What {name} has cannot be made again. It expires by itself.")
        return cache.empty()
