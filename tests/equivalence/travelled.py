"""Tables that were written to and changed after the versions that queries read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pyiceberg.catalog import Catalog
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import IcebergType, IntegerType, LongType, StringType

from tests.equivalence.lakehouse import SCHEMA, Layout, append, created

KEYS = 8
_FACT: Mapping[str, IcebergType] = {
    "id": LongType(),
    "k": IntegerType(),
    "b": LongType(),
    "name": StringType(),
    "gone": IntegerType(),
}
_DIMENSION: Mapping[str, IcebergType] = {"k": IntegerType(), "old_year": IntegerType(), "name": StringType()}
_PAIR: Mapping[str, IcebergType] = {"id": LongType(), "one": IntegerType(), "two": IntegerType()}
BY_K = Layout((("k", IdentityTransform()),))


@dataclass(frozen=True, slots=True)
class Version:
    """A snapshot, which can be named in several ways."""

    snapshot_id: int
    committed_at: datetime

    def said(self, table: str, spelling: str) -> str:
        """Returns the SQL of the table at this version, in this spelling."""
        clause = spelling.format(
            id=self.snapshot_id,
            time=f"{self.committed_at:%Y-%m-%d %H:%M:%S.%f}",
            ms=round(self.committed_at.timestamp() * 1000),
        )
        return f"{SCHEMA}.{table}{clause}" if clause.startswith(".") else f"{table} {clause}"


def make_travelled(catalog: Catalog, spark: Callable[[str], object]) -> Mapping[str, Version]:
    """Creates the tables, and returns the first version of each, which has the tag `first`.

    Since then, `aged` has other columns and another partition spec, `aged_dim` has other years, and two
    columns of `swapped` have swapped their names. The branch `audit` of `branched` starts at its first
    version, and was written to since. The branch `old` of `behind` has the columns from before the last
    change.
    """
    return {
        "aged": _make_aged(catalog),
        "aged_dim": _make_aged_dimension(catalog),
        "swapped": _make_swapped(catalog),
        "branched": _make_branched(catalog, spark),
        "behind": _make_behind(catalog),
    }


def _make_aged(catalog: Catalog) -> Version:
    table = created(catalog, "aged", _FACT, BY_K)
    append(table, [_fact(number) for number in range(3 * KEYS)])
    first = _tagged(table)
    with table.update_schema() as update:
        update.rename_column("name", "label")
        update.add_column("added", IntegerType())
        update.delete_column("gone")
    append(table, [{"id": 100 + number, "k": number, "b": number, "label": "new"} for number in range(KEYS)])
    with table.update_spec() as update_spec:
        update_spec.remove_field("k_part")
        update_spec.add_field("b", BucketTransform(3), "b_bucket")
    append(
        table, [{"id": 200 + number, "k": number, "b": number, "label": "newer"} for number in range(KEYS)]
    )
    return first


def _make_aged_dimension(catalog: Catalog) -> Version:
    table = created(catalog, "aged_dim", _DIMENSION, Layout())
    append(
        table, [{"k": number, "old_year": 1998 + number % 3, "name": f"n{number}"} for number in range(KEYS)]
    )
    first = _tagged(table)
    with table.update_schema() as update:
        update.rename_column("old_year", "year")
        update.update_column("k", LongType())
    append(
        table,
        [{"k": number, "year": 2000 + number % 2, "name": f"m{number}"} for number in range(2, KEYS + 2)],
    )
    return first


def _make_swapped(catalog: Catalog) -> Version:
    layout = Layout((("one", IdentityTransform()), ("two", IdentityTransform())))
    table = created(catalog, "swapped", _PAIR, layout)
    append(table, [{"id": number, "one": number % 4, "two": 10 + number % 3} for number in range(12)])
    first = _tagged(table)
    for before, after in (("one", "three"), ("two", "one"), ("three", "two")):
        with table.update_schema() as update:
            update.rename_column(before, after)
    append(table, [{"id": 100 + number, "one": number % 3, "two": 10 + number % 4} for number in range(12)])
    # The names are swapped again, without a snapshot after it.
    for before, after in (("one", "three"), ("two", "one"), ("three", "two")):
        with table.update_schema() as update:
            update.rename_column(before, after)
    return first


def _make_branched(catalog: Catalog, spark: Callable[[str], object]) -> Version:
    table = created(catalog, "branched", _FACT, BY_K)
    append(table, [_fact(number) for number in range(KEYS)])
    first = _tagged(table)
    for name in ("audit", "Audit"):
        table.manage_snapshots().create_branch(first.snapshot_id, name).commit()
    append(table, [_fact(100 + number) for number in range(2 * KEYS)])
    name = f"lake.{SCHEMA}.branched"
    spark(f"INSERT INTO {name}.branch_audit SELECT id + 1000, k, b, 'audited', gone FROM {name} WHERE k < 4")
    return first


def _make_behind(catalog: Catalog) -> Version:
    """Creates a table with a branch whose snapshot precedes the last change of columns."""
    table = created(catalog, "behind", _FACT, BY_K)
    append(table, [_fact(number) for number in range(KEYS)])
    first = _tagged(table)
    table.manage_snapshots().create_branch(first.snapshot_id, "old").commit()
    with table.update_schema() as update:
        update.rename_column("name", "label")
    append(table, [{"id": 100 + number, "k": number, "label": "new"} for number in range(KEYS)])
    return first


def _fact(number: int) -> dict[str, object]:
    key = number % KEYS
    return {"id": number, "k": key, "b": key * 3, "name": f"n{key}", "gone": number % 2}


def _tagged(table: Table) -> Version:
    snapshot = _current(table)
    table.manage_snapshots().create_tag(snapshot.snapshot_id, "first").commit()
    return Version(snapshot.snapshot_id, datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC))


def _current(table: Table) -> Snapshot:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return snapshot
