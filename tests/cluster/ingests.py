"""A cluster's executors write the same files as a single process, and each record once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, LongType, NestedField, StringType

from tests.cluster.caller import Caller
from tests.cluster.findings import Finding
from tests.cluster.place import Place
from tests.integration.lakehouse import make

FILES, ROWS_OF_A_FILE = 8, 10_000
UPSERTED, TURNS = 4_000, 8
KINDS = ("click", "view", "buy")
EVENTS = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "kind", StringType(), required=True),
    NestedField(3, "amount", DoubleType()),
    NestedField(4, "note", StringType()),
)
BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))


def ingests(place: Place, callers: Mapping[str, str]) -> Iterator[Finding]:
    """Sends a source through one gateway, and upserts through the other; repeats each at the other one."""
    _put_files(place.inbox)
    place.lake.create_namespace("events")
    plain, keyed = ({way: _table(place, f"{name}_{way}") for way in ("cluster", "alone")} for name in "ab")
    with ExitStack() as stack:
        alone = stack.enter_context(Caller(place.alone.url, next(iter(callers.values()))))
        one, *others = (stack.enter_context(Caller(place.balancer.url, token)) for token in callers.values())
        # It must be the same caller at both gateways, as a requestId belongs to its caller.
        token = next(iter(callers.values()))
        direct = [stack.enter_context(Caller(gateway.url, token)) for gateway in place.gateways]
        yield from _source(place, (one, *direct), alone, plain)
        yield from _upserts((others[0] if others else one, *direct), alone, keyed)


def _source(
    place: Place, callers: tuple[Caller, ...], alone: Caller, tables: Mapping[str, Table]
) -> Iterator[Finding]:
    first, *again = callers
    source = {"uri": f"{place.inbox.as_uri()}/*.ndjson", "format": "ndjson"}
    body = {"source": source, "requestId": str(uuid4())}
    answer = first.ingest({**body, "table": _name(tables["cluster"])})
    expected = alone.ingest({**body, "table": _name(tables["alone"])})
    repeated = [caller.ingest({**body, "table": _name(tables["cluster"])}) for caller in again]
    yield _once("a source, written by executors", tables["cluster"], FILES * ROWS_OF_A_FILE, answer, repeated)
    yield _same_files("its files and those of one process", tables)
    yield _said("what both answered", answer, expected)


def _upserts(callers: tuple[Caller, ...], alone: Caller, tables: Mapping[str, Table]) -> Iterator[Finding]:
    first, *_ = callers
    content = _upserted()
    how = {"mode": "upsert", "equalityFields": "id,kind", "requestId": str(uuid4())}
    answer = first.ingest_body(content, table=_name(tables["cluster"]), **how)
    expected = alone.ingest_body(content, table=_name(tables["alone"]), **how)
    repeated = first.ingest_body(content, table=_name(tables["cluster"]), **how)
    yield _once("a body of upserts, written by executors", tables["cluster"], UPSERTED, answer, [repeated])
    yield _same_files("its files and those of one process", tables)
    yield _said("what both answered", answer, expected)


def _once(
    what: str, table: Table, count: int, answer: dict[str, Any], repeated: list[dict[str, Any]]
) -> Finding:
    ids = table.refresh().scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()
    snapshots = [snapshot.snapshot_id for snapshot in table.snapshots()]
    is_right = (
        len(ids) == len(set(ids)) == count
        and snapshots == [commit["snapshotId"] for commit in answer["commits"]]
        and all(other["ingestId"] == answer["ingestId"] for other in repeated)
    )
    shown = f"{len(ids):,} records, {len(set(ids)):,} of them different; {len(snapshots)} snapshot"
    return Finding(f"{what}, sent {1 + len(repeated)} times", shown, is_right)


def _same_files(what: str, tables: Mapping[str, Table]) -> Finding:
    cluster, alone = (_files(tables[way]) for way in ("cluster", "alone"))
    differing = ((cluster - alone) + (alone - cluster)).total()
    return Finding(what, f"{cluster.total()} and {alone.total()}, {differing} differ", differing == 0)


def _said(what: str, answer: dict[str, Any], expected: dict[str, Any]) -> Finding:
    names = ("addedRecords", "addedDataFiles")
    found, wanted = (
        [[commit[name] for name in names] for commit in of["commits"]] for of in (answer, expected)
    )
    return Finding(what, f"{found[0][0]:,} records in {found[0][1]} files", found == wanted)


def _files(table: Table) -> Counter[str]:
    """Counts files by their contents."""
    entries = table.refresh().inspect.files().to_pylist()
    return Counter(map(_content_of, entries))


def _content_of(entry: dict[str, Any]) -> str:
    path = Path(entry["file_path"].removeprefix("file://"))
    metrics = [entry[name] for name in ("value_counts", "null_value_counts", "lower_bounds", "upper_bounds")]
    rows = pq.ParquetFile(path).read().to_pylist()
    return repr((entry["content"], entry["record_count"], metrics, rows))


def _table(place: Place, name: str) -> Table:
    return make(place.lake, f"events.{name}", EVENTS, BY_KIND)


def _name(table: Table) -> str:
    return f"lake.{'.'.join(table.name())}"


def _put_files(inbox: Path) -> None:
    for number in range(FILES):
        lines = (json.dumps(_event(number * ROWS_OF_A_FILE + index)) for index in range(ROWS_OF_A_FILE))
        (inbox / f"{number}.ndjson").write_text("\n".join(lines))


def _event(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "kind": KINDS[number % len(KINDS)],
        "amount": number / 8,
        "note": f"event {number} of many, with a text that makes it longer than its number",
    }


def _upserted() -> bytes:
    events = (
        _event(number) | {"note": f"turn {turn}"} for turn in range(TURNS) for number in range(UPSERTED)
    )
    return "\n".join(map(json.dumps, events)).encode()
