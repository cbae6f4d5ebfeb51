"""Equivalence classes of the columns that are equal in every row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from service.model.filters.joins import ColumnOf


def column_classes(
    equalities: Iterable[tuple[ColumnOf, ColumnOf]], family_of: Callable[[ColumnOf], str | None]
) -> Mapping[ColumnOf, frozenset[ColumnOf]]:
    """Returns, for each column, the class that it is in.

    Types of one family are compared exactly, value by value. Across families equality is not transitive
    ('01' = 1 and 1 = '1', yet '01' <> '1'), so such pairs are in no class.

    >>> f, d, e = ColumnOf("f", "k"), ColumnOf("d", "k"), ColumnOf("e", "k")
    >>> classes = column_classes([(f, d), (d, e)], lambda column: "integer")
    >>> sorted(column.relation for column in classes[f])
    ['d', 'e', 'f']
    """
    classes: dict[ColumnOf, frozenset[ColumnOf]] = {}
    for left, right in equalities:
        family = family_of(left)
        if family is None or family != family_of(right):
            continue
        merged = classes.get(left, frozenset([left])) | classes.get(right, frozenset([right]))
        classes |= dict.fromkeys(merged, merged)
    return classes
