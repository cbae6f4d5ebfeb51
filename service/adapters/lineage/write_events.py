"""Events of ingests, commit rounds and maintenance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import OutputDatasetFacet, RunFacet

from service.adapters.lineage.dataset_names import DatasetNames, file_dataset
from service.adapters.lineage.facets import (
    CommittedIngestsRunFacet,
    WriteSchemasOutputDatasetFacet,
    job_facets,
    output_statistics,
    run_facets,
    table_facets,
)
from service.adapters.lineage.job_names import table_job
from service.adapters.lineage.lineage_tables import KnownTable, KnownTables, Read
from service.adapters.lineage.query_run_events import CALLER
from service.model.ingest.ingest import IngestRecord, WrittenTarget
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import MaintenanceOperation, MaintenanceRecord, MaintenanceState
from service.model.query.lineage import EndedRound

MOST_INGESTS = 1_000
MOST_COLUMNS = 1_000


@dataclass(frozen=True, slots=True)
class WriteEvents:
    """Builds events of writes. Each run has a START and an end, sent together."""

    namespace: str
    names: DatasetNames
    tables: KnownTables

    def accepted(self, record: IngestRecord, read_from: str) -> list[RunEvent]:
        """Returns the events of a durable ingest: its files are written, but not in a snapshot yet.

        An ingest of several tables is one run, of the first table's job.
        """
        if not record.commits:
            return []
        known = self.tables.of((commit.key.table, None) for commit in record.commits)
        outputs = [
            self._output(commit.key, commit.targets, None, known.get((commit.key.table, None)))
            for commit in record.commits
        ]
        source = file_dataset(read_from) if read_from else None
        inputs = [] if source is None else [InputDataset(source.namespace, source.name)]
        began_at = record.accepted_at - timedelta(milliseconds=record.write_ms)
        run = Run(str(record.ingest_id), run_facets({CALLER: record.caller}))
        job = self._job("ingest", record.commits[0].key)
        return _run(run, job, RunState.COMPLETE, began_at, record.accepted_at, inputs, outputs)

    def committed(self, ended: EndedRound, at: datetime) -> list[RunEvent]:
        """Returns the events of a commit round that has made a snapshot, or was rejected."""
        read: Read = (ended.key.table, ended.snapshot_id)
        output = self._output(ended.key, ended.targets, ended.snapshot_id, self.tables.of([read]).get(read))
        if ended.error_code is not None:
            # Nothing of it got into the table.
            output.outputFacets = {}
        facets: dict[str, RunFacet] = run_facets({}, ended.error_code)
        ids = [str(ingest_id) for ingest_id in ended.ingest_ids]
        facets["sluice_committedIngests"] = CommittedIngestsRunFacet(len(ids), ids[:MOST_INGESTS])
        return _run(
            Run(str(ended.round_id), facets),
            self._job("commit", ended.key),
            RunState.FAIL if ended.error_code is not None else RunState.COMPLETE,
            at - timedelta(milliseconds=ended.took_ms),
            at,
            [],
            [output],
        )

    def maintained(self, record: MaintenanceRecord, at: datetime) -> list[RunEvent]:
        """Returns the events of a compaction; other maintenance changes no rows and is not reported."""
        if MaintenanceOperation.COMPACT not in record.request.operations:
            return []
        key = record.request.key
        name, read = self.names.of(key.table), (key.table, None)
        known = self.tables.of([read]).get(read)
        dataset = (name.namespace, name.name)
        return _run(
            Run(str(record.maintenance_id), run_facets({CALLER: record.requested_by}, record.error_code)),
            self._job("compact", key),
            RunState.COMPLETE if record.state is MaintenanceState.SUCCEEDED else RunState.FAIL,
            record.started_at or record.requested_at,
            record.ended_at or at,
            [InputDataset(*dataset, facets=table_facets(name, known, None))],
            [OutputDataset(*dataset, facets=table_facets(name, known, None))],
        )

    def _job(self, kind: str, key: TableKey) -> Job:
        return Job(self.namespace, table_job(kind, key), job_facets(kind.upper()))

    def _output(
        self,
        key: TableKey,
        targets: Sequence[WrittenTarget],
        snapshot_id: int | None,
        known: KnownTable | None,
    ) -> OutputDataset:
        name = self.names.of(key.table)
        facets: dict[str, OutputDatasetFacet] = output_statistics(
            sum(target.record_count for target in targets),
            sum(target.byte_count for target in targets),
            sum(target.data_file_count for target in targets),
        )
        facets["sluice_writeSchemas"] = WriteSchemasOutputDatasetFacet(_write_schemas(targets, known))
        return OutputDataset(
            name.namespace,
            name.name,
            outputFacets=facets,
            facets=table_facets(name, known, snapshot_id),
        )


def _run(
    run: Run,
    job: Job,
    end: RunState,
    began_at: datetime,
    ended_at: datetime,
    inputs: list[InputDataset],
    outputs: list[OutputDataset],
) -> list[RunEvent]:
    begun = Run(
        run.runId, {name: facet for name, facet in (run.facets or {}).items() if name != "errorMessage"}
    )
    start = RunEvent(eventType=RunState.START, eventTime=began_at.isoformat(), run=begun, job=job)
    ended = RunEvent(
        eventType=end, eventTime=ended_at.isoformat(), run=run, job=job, inputs=inputs, outputs=outputs
    )
    return [start, ended]


def _write_schemas(targets: Iterable[WrittenTarget], known: KnownTable | None) -> list[dict[str, object]]:
    """Returns each write schema once, with what was written under it."""
    grouped: dict[tuple[int, ...] | None, list[WrittenTarget]] = defaultdict(list)
    for target in targets:
        grouped[target.column_ids].append(target)
    names = {} if known is None else {column.field_id: column.name for column in known.columns}
    return [
        {
            **_columns(column_ids, names),
            "isWholeTable": column_ids is None,
            "isUpsert": any(target.equality_field_ids for target in group),
            "rowCount": sum(target.record_count for target in group),
            "size": sum(target.byte_count for target in group),
            "fileCount": sum(target.data_file_count for target in group),
        }
        for column_ids, group in grouped.items()
    ]


def _columns(column_ids: tuple[int, ...] | None, names: Mapping[int, str]) -> dict[str, object]:
    """Columns by name, if all are known columns of the table; fields of structs have no names here."""
    if column_ids is None or not set(column_ids) <= names.keys() or len(column_ids) > MOST_COLUMNS:
        return {"columnCount": len(names) if column_ids is None else len(column_ids)}
    return {"columnCount": len(column_ids), "columns": [names[column_id] for column_id in column_ids]}
