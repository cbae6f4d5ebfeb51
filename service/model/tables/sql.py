"""A query's text as a tree, with the places of its table references."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from service.model.tables.tables import NOW, TableVersion


@dataclass(frozen=True, slots=True, order=True)
class TextSpan:
    """A part of a text; `end` is exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TableReference:
    """One reference to a table; its name stands in the text from `start` to `end` (exclusive).

    `is_plain`: only an alias and the `version` to read follow the name. There is no sample, and no version
    clause that the gateway cannot read (`has_known_version`). `version_end` is where the version clause ends.

    `part_ends` are where the parts of the name end. A `selector` is not part of the name; it selects the
    version.
    """

    parts: tuple[str, ...]
    start: int
    end: int
    alias: str | None
    is_plain: bool
    version: TableVersion = NOW
    version_end: int | None = None
    has_known_version: bool = True
    part_ends: tuple[int, ...] = ()
    selector: str | None = None

    @property
    def known_as(self) -> str:
        """The name that qualifies the table's columns if it has no alias."""
        return self.parts[-1] if self.selector is None else self.selector

    @property
    def span(self) -> TextSpan:
        """The name with its version."""
        return TextSpan(self.start, self.end if self.version_end is None else self.version_end)


@dataclass(frozen=True, slots=True)
class ReferenceLabel:
    """The ordinal of a table reference in a text, counted from 1, and the table's name there."""

    number: int
    alias: str


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as text and as a tree; the tree is never changed in place."""

    sql: str
    tree: exp.Query
    references: tuple[TableReference, ...]

    def label_at(self, end: int) -> ReferenceLabel | None:
        """Returns the table reference whose name ends at this place in the text.

        >>> both = (TableReference(("t",), 14, 15, "a", True), TableReference(("t",), 19, 20, None, True))
        >>> ParsedQuery("SELECT 1 FROM t a, t", exp.select("1"), both).label_at(20)
        ReferenceLabel(number=2, alias='t')
        """
        for number, reference in enumerate(sorted(self.references, key=lambda found: found.start), start=1):
            if reference.end == end:
                return ReferenceLabel(
                    number, reference.known_as if reference.alias is None else reference.alias
                )
        return None
