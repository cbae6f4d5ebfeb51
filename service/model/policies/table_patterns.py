"""Patterns of table names, such as `lake.sales.*`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from service.model.tables.tables import TableName

MAX_PATTERN_LENGTH = 512
MAX_WILDCARDS = 8
"""In one part of the name, so that no pattern takes long to match."""
_PART = re.compile(r"[^\s.`\"']+")


@dataclass(frozen=True, slots=True)
class TablePattern:
    """A pattern of table names: one glob each for the catalog, the schema and the table, without case.

    `*` stands for any characters within its part. The schema's glob also covers the dots between the levels
    of a nested schema.

    >>> pattern = TablePattern.parse("lake.Sales*.*")
    >>> [pattern.covers(TableName.of(name)) for name in ("lake.sales.orders", "LAKE.sales_eu.x", "lake.hr.x")]
    [True, True, False]
    >>> str(pattern)
    'lake.sales*.*'
    """

    catalog: str
    schema: str
    table: str

    @classmethod
    def parse(cls, text: str) -> TablePattern:
        """Reads a pattern of at least three parts.

        Raises:
            ValueError: it has fewer parts, an empty part, quotes, white space, or too many wildcards.
        """
        if len(text) > MAX_PATTERN_LENGTH:
            raise ValueError(f"A pattern has at most {MAX_PATTERN_LENGTH} characters.")
        parts = text.lower().split(".")
        if len(parts) < 3 or not all(_PART.fullmatch(part) for part in parts):
            raise ValueError("A pattern has the form `catalog.schema.table`; each part may contain `*`.")
        if any(part.count("*") > MAX_WILDCARDS for part in parts):
            raise ValueError(f"A part of a pattern has at most {MAX_WILDCARDS} wildcards.")
        return cls(parts[0], ".".join(parts[1:-1]), parts[-1])

    @property
    def literal_length(self) -> int:
        """How many characters are not wildcards: of two patterns, the one with more is more specific."""
        return sum(len(part.replace("*", "")) for part in (self.catalog, self.schema, self.table))

    def covers(self, table: TableName) -> bool:
        """Whether the table's name matches."""
        return (
            _matches(self.catalog, table.catalog)
            and _matches(self.schema, table.schema)
            and _matches(self.table, table.table)
        )

    def covers_schema(self, catalog: str, schema: str) -> bool:
        """Whether the names of a schema and its catalog match, whatever the table's."""
        return _matches(self.catalog, catalog) and _matches(self.schema, schema)

    def covers_catalog(self, catalog: str) -> bool:
        """Whether the name of a catalog matches, whatever the schema's and the table's."""
        return _matches(self.catalog, catalog)

    def __str__(self) -> str:
        return f"{self.catalog}.{self.schema}.{self.table}"


def _matches(glob: str, name: str) -> bool:
    return glob == "*" or _compiled(glob).fullmatch(name.lower()) is not None


@lru_cache(maxsize=4096)
def _compiled(glob: str) -> re.Pattern[str]:
    # Atomic groups cannot backtrack: each wildcard but the last takes the first match of what follows it.
    first, *others = (re.escape(part) for part in re.sub(r"\*+", "*", glob).split("*"))
    if not others:
        return re.compile(first)
    *inner, last = others
    return re.compile(first + "".join(f"(?>.*?{part})" for part in inner) + ".*" + last, re.DOTALL)
