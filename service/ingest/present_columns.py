"""Finds the columns that the records of each write have, for write schemas that are inferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from io import BytesIO

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.json.ndjson_names import ndjson_names
from service.ingest.decoding.present_names import present_names
from service.ingest.decoding.streams.note_names import note_names
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.streams.sought import opened_records
from service.ingest.distributed.large_parts import LargeInputs
from service.ingest.distributed.names_in_source import names_in_source
from service.model.ingest.ingest_request import IngestRequest, Route, StreamedRecords, Write
from service.model.ingest.json_records import JsonRecords
from service.model.ingest.sources import SourceFile, SourceRecords
from service.model.ingest.writing import TableKey, WritableTable
from service.ports.tables.data_files import Spools


class PresentColumns:
    """The columns that one request's records have.

    The records are read again whenever the tables' columns have changed.
    """

    def __init__(
        self, request: IngestRequest, bounds: ReadBounds, spools: Spools, large: LargeInputs | None
    ) -> None:
        self._request = request
        self._bounds = bounds
        self._spools = spools
        self._large = large
        self._found: dict[tuple[frozenset[str], ...], Sequence[set[str]]] = {}
        self.files: Sequence[SourceFile] | None = None
        """The files of a source that were read, whose rows are written later."""

    def of(self, tables: Mapping[TableKey, WritableTable]) -> tuple[frozenset[str], ...]:
        """Returns, for each write, the table's columns that some record has.

        Without a write that infers its columns, the sets are empty. If the records of a write have none of
        the table's columns, some names that the table does not have are returned. Records that do not fit are
        included. A table that is not among `tables` counts as having no columns.

        Raises:
            IngestInvalid: the body, or a file of a source, cannot be read.
            SourceInvalid, SourceNotAllowed, SourceChanged: the source cannot be read.
            TooManyIngests, StorageDown: the spools have no space to decompress the body.
            ExecutorsFailed, EngineNotReady, EngineLost: the executors could not read a source.
        """
        writes = self._request.writes
        if not any(write.is_inferred for write in writes):
            return (frozenset(),) * len(writes)
        known = tuple(_columns(tables.get(write.key)) for write in writes)
        if known not in self._found:
            self._found[known] = self._names(known)
        triples = zip(self._found[known], known, writes, strict=True)
        return tuple(_present(names, own, self._request.route, write) for names, own, write in triples)

    def _names(self, known: Sequence[frozenset[str]]) -> Sequence[set[str]]:
        request = self._request
        match request.executed:
            case SourceRecords() as source:
                assert self._large is not None, "nothing reads sources"
                if self.files is None:
                    self.files = self._large.sources.files(source.uri)
                return names_in_source(self.files, source, request.route, known, self._large)
            case None:
                return _names(request, known, self._bounds, self._spools)
            case _:
                raise IngestInvalid("The columns of a stream cannot be inferred: name them in writeSchema.")


def _present(names: Set[str], own: Set[str], route: Route | None, write: Write) -> frozenset[str]:
    # The fields that say where a record goes and whether it deletes need not be columns.
    others = {route.field} if route else set()
    if write.delete_when is not None:
        others.add(write.delete_when.field)
    return frozenset(names & own or names - others)


def _columns(table: WritableTable | None) -> frozenset[str]:
    return frozenset() if table is None else frozenset(column.name for column in table.schema.columns)


def _names(
    request: IngestRequest, known: Sequence[frozenset[str]], bounds: ReadBounds, spools: Spools
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
            return [_names_in(*routed) for routed in zip(_routed(request, records), known, strict=True)]


def _names_of(records: Sequence[Mapping[str, object]], known: frozenset[str]) -> set[str]:
    if isinstance(records, JsonRecords):
        [found] = ndjson_names(BytesIO(records.lines), None, [known], len(records.lines))
        return found
    return _names_in(records, known)


def _names_in(records: Iterable[Mapping[str, object]], known: frozenset[str]) -> set[str]:
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
