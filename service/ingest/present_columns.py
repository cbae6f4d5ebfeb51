"""Which columns the records of each write have, for write schemas that are inferred from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

from service.ingest.reading.ndjson_names import ndjson_names
from service.ingest.reading.note_names import note_names
from service.ingest.reading.present_names import present_names
from service.ingest.reading.read_bounds import ReadBounds
from service.ingest.reading.sought import opened_records
from service.ingest_ports import Spools
from service.model.ingest import InferredColumns, IngestRequest, Route, StreamedRecords
from service.model.json_records import JsonRecords
from service.model.writing import TableKey, WritableTable


def present_columns(
    request: IngestRequest, tables: Mapping[TableKey, WritableTable], bounds: ReadBounds, spools: Spools
) -> tuple[frozenset[str], ...]:
    """The table's columns that at least one record of the write has, for each write; nothing if none asks.

    Of a write whose records have none of them, there are some names that the table does not have.

    A body is read twice then: once for its columns, and once for its rows. Records that do not fit count.
    Of a table that is not among the tables there are none.

    Raises:
        IngestInvalid: the body cannot be read.
        TooManyIngests, StorageDown: the `spools` have no room to unpack it.
    """
    if not any(isinstance(each.write_schema, InferredColumns) for each in request.writes):
        return (frozenset(),) * len(request.writes)
    known = [_columns(tables.get(write.key)) for write in request.writes]
    found = _names(request, known, bounds, spools)
    return tuple(_present(names, own, request.route) for names, own in zip(found, known, strict=True))


def _present(names: set[str], own: set[str], route: Route | None) -> frozenset[str]:
    # What routes need not be a column.
    return frozenset(names & own or names - ({route.field} if route else set()))


def _columns(table: WritableTable | None) -> set[str]:
    return set() if table is None else {each.name for each in table.schema.columns}


def _names(
    request: IngestRequest, known: Sequence[set[str]], bounds: ReadBounds, spools: Spools
) -> Sequence[set[str]]:
    match request.shared:
        case None:
            pairs = zip(request.writes, known, strict=True)
            return [_names_of(write.records, own) for write, own in pairs]
        case StreamedRecords() as streamed:
            with opened_records(streamed, bounds.body_bytes, spools) as stream:
                return present_names(stream, streamed.record_format, request.route, known, bounds)
        case JsonRecords() as sent:
            return ndjson_names(BytesIO(sent.lines), request.route, known, len(sent.lines))
        case records:
            return [_names_in(*each) for each in zip(_routed(request, records), known, strict=True)]


def _names_of(records: Sequence[Mapping[str, object]], known: set[str]) -> set[str]:
    if isinstance(records, JsonRecords):
        [found] = ndjson_names(BytesIO(records.lines), None, [known], len(records.lines))
        return found
    return _names_in(records, known)


def _names_in(records: Iterable[Mapping[str, object]], known: set[str]) -> set[str]:
    found: set[str] = set()
    for record in records:
        note_names(found, record.keys(), known)
    return found


def _routed(
    request: IngestRequest, records: Sequence[Mapping[str, object]]
) -> list[list[Mapping[str, object]]]:
    found: list[list[Mapping[str, object]]] = [[] for _ in request.writes]
    for record in records:
        target = 0 if request.route is None else request.route.target(record.get(request.route.field))
        if target is not None:
            found[target].append(record)
    return found
