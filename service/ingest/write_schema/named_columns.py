"""Matches names of columns with the table's fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from service.errors.gateway_error import did_you_mean
from service.model.ingest.ingest_request import Violation, WriteRule
from service.model.tables.schemas import Field, Struct

# Each name is compared with all columns, which takes time.
_WITH_NEAREST = 10


def named_columns(
    names: Sequence[str], columns: tuple[Field, ...]
) -> tuple[tuple[int, ...], tuple[Violation, ...]]:
    """Returns the ids of the named fields, in their order, and what is wrong with the other names.

    A column whose own name has dots takes precedence over a field inside a struct.

    >>> from service.model.tables.schemas import Primitive
    >>> columns = (Field(1, "id", Primitive("long")), Field(2, "at", Primitive("timestamptz")))
    >>> named_columns(["at", "id"], columns)
    ((2, 1), ())
    >>> named_columns(["ad"], columns)[1][0].detail
    'The table has no column ad. Did you mean id or at?'
    """
    known: dict[str, Field] = {}
    for name, field in _reachable(columns, ()):
        known.setdefault(name, field)
    found: dict[int, str] = {}
    covered: set[int] = set()
    violations: list[Violation] = []
    for name in names:
        named = known.get(name)
        if named is None:
            violations.append(_unknown(name, known, has_nearest=len(violations) < _WITH_NEAREST))
        elif named.field_id in covered or not found.keys().isdisjoint(_ids(named)):
            violations.append(Violation(name, WriteRule.REPEATED_COLUMN, f"{name} is given twice."))
        else:
            found[named.field_id] = name
            covered.update(_ids(named))
    return tuple(found), tuple(violations)


def unknown_columns(names: Sequence[str], columns: tuple[Field, ...]) -> tuple[Violation, ...]:
    """Returns what is wrong with these names, none of which is that of a column."""
    known = {column.name: column for column in columns}
    return tuple(_unknown(name, known, has_nearest=at < _WITH_NEAREST) for at, name in enumerate(names))


def _reachable(fields: tuple[Field, ...], parents: tuple[str, ...]) -> Iterator[tuple[str, Field]]:
    """Yields columns first, then fields in structs; elements of lists and maps are written whole."""
    for field in fields:
        yield ".".join((*parents, field.name)), field
    for field in fields:
        if isinstance(field.type, Struct):
            yield from _reachable(field.type.fields, (*parents, field.name))


def _ids(field: Field) -> set[int]:
    return {reached.field_id for _, reached in _reachable((field,), ())}


def _unknown(name: str, known: dict[str, Field], *, has_nearest: bool) -> Violation:
    for end in (at for at, letter in enumerate(name) if letter == "."):
        parent = name[:end]
        field = known.get(parent)
        if field is not None and field.children and not isinstance(field.type, Struct):
            return Violation(
                name,
                WriteRule.NOT_A_STRUCT,
                f"{parent} can only be written whole: name it without its inner fields.",
            )
    nearest = get_close_matches(name, known, n=3, cutoff=0.5) if has_nearest else ()
    return Violation(
        name, WriteRule.UNKNOWN_COLUMN, f"The table has no column {name}.{did_you_mean(nearest)}"
    )
