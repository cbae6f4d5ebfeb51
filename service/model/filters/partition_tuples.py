"""The combinations of values that a table's partitions have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.model.filters.key_set import Key, KeyValue


@dataclass(frozen=True, slots=True)
class PartitionTuples:
    """The values of these columns in the partitions of one snapshot; no row has another combination."""

    columns: tuple[str, ...]
    tuples: frozenset[tuple[KeyValue | None, ...]]

    def of(self, columns: Sequence[str]) -> PartitionTuples | None:
        """Returns the combinations in those of the columns that partitions have; None for fewer than two.

        >>> partitions = PartitionTuples(("a", "b", "c"), frozenset({(1, 2, 3), (1, 2, 4), (5, 6, None)}))
        >>> partitions.of(["b", "d", "a"])
        PartitionTuples(columns=('b', 'a'), tuples=frozenset({(2, 1), (6, 5)}))
        >>> partitions.of(["a", "d"])
        """
        known = tuple(column for column in columns if column in self.columns)
        places = [self.columns.index(column) for column in known]
        found = frozenset(tuple(values[place] for place in places) for values in self.tuples)
        return PartitionTuples(known, found) if len(known) > 1 else None

    def matching(self, columns: Sequence[str], keys: Iterable[Key]) -> set[Key]:
        """Returns those of the keys over these columns that a row can have.

        >>> PartitionTuples(("b", "a"), frozenset({(2, 1)})).matching(["a", "d", "b"], [(1, 7, 2), (2, 7, 1)])
        {(1, 7, 2)}
        """
        places = [columns.index(column) for column in self.columns]
        return {key for key in keys if tuple(key[place] for place in places) in self.tuples}
