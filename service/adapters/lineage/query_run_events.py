"""Events of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    column_lineage_dataset,
    dataset_type_dataset,
    sql_job,
)

from service.adapters.lineage.dataset_names import DatasetName, DatasetNames
from service.adapters.lineage.facets import (
    clean,
    input_facets,
    job_facets,
    output_statistics,
    run_facets,
    schema_facet,
    table_facets,
)
from service.adapters.lineage.job_names import query_job
from service.adapters.lineage.lineage_tables import KnownTable, KnownTables, Read
from service.model.filters.filter_record import FilterRecord
from service.model.query.lineage import Influence, ResultLineage, Source
from service.model.query.query import QueryRecord, QueryState
from service.model.query.scan_metrics import ScanRecord
from service.model.tables.tables import TableName

CALLER = "caller"
RESULTS = "inmemory://"
"""OpenLineage's namespace for datasets that are not stored."""
_ENDS = {
    QueryState.SUCCEEDED: RunState.COMPLETE,
    QueryState.FAILED: RunState.FAIL,
    QueryState.CANCELED: RunState.ABORT,
}


@dataclass(frozen=True, slots=True)
class QueryEvents:
    """Builds events of queries. `is_sql_reported`: with their texts, which may contain callers' values."""

    namespace: str
    names: DatasetNames
    tables: KnownTables
    is_sql_reported: bool = False

    def taken(self, record: QueryRecord) -> RunEvent:
        """Returns the event of an accepted query."""
        return self._event(record, RunState.START, record.submitted_at)

    def ended(self, record: QueryRecord, at: datetime) -> RunEvent:
        """Returns the event of a query that has ended: what it read, and its result."""
        event = self._event(record, _ENDS.get(record.state, RunState.OTHER), at)
        scans: dict[TableName, list[ScanRecord]] = defaultdict(list)
        for scan in record.scans:
            scans[TableName.of(scan.table)].append(scan)
        reads = {name: (name, found[0].snapshot_id) for name, found in scans.items()}
        known = self.tables.of(reads.values())
        event.inputs = [self._input(read, scans[name], known.get(read)) for name, read in reads.items()]
        if record.lineage is not None and record.state is QueryState.SUCCEEDED:
            event.outputs = [self._result(record, record.lineage, event.job.name, reads)]
        return event

    def _event(self, record: QueryRecord, state: RunState, at: datetime) -> RunEvent:
        facets: dict[str, JobFacet] = job_facets("QUERY")
        if self.is_sql_reported:
            facets["sql"] = sql_job.SQLJobFacet(clean(record.sql), "spark")
        code = None if record.error is None else record.error.code
        tags = {CALLER: record.caller} | {key: tag for key, tag in record.tags.items() if key != CALLER}
        return RunEvent(
            eventType=state,
            eventTime=at.isoformat(),
            run=Run(str(record.query_id), run_facets(tags, code)),
            job=Job(self.namespace, query_job(record), facets),
        )

    def _input(self, read: Read, scans: list[ScanRecord], known: KnownTable | None) -> InputDataset:
        name = self.names.of(read[0])
        return InputDataset(
            name.namespace,
            name.name,
            inputFacets=input_facets(scans),
            facets=table_facets(name, known, read[1]),
        )

    def _result(
        self, record: QueryRecord, lineage: ResultLineage, job: str, read: Iterable[TableName]
    ) -> OutputDataset:
        facets: dict[str, DatasetFacet] = {
            "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet("JOB_OUTPUT"),
            **schema_facet((column.name, column.type_name, None) for column in lineage.columns),
            **self._column_lineage(record, lineage, read),
        }
        return OutputDataset(
            RESULTS,
            f"{self.namespace}/{job}",
            outputFacets=output_statistics(record.row_count, record.byte_count, None),
            facets=facets,
        )

    def _column_lineage(
        self, record: QueryRecord, lineage: ResultLineage, read: Iterable[TableName]
    ) -> dict[str, DatasetFacet]:
        if lineage.origins is None:
            return {}
        tables = {str(table): self.names.of(table) for table in read}
        # The engine's names for local relations are in lower case.
        tables |= {alias.lower(): tables[table] for alias, table in lineage.cached_tables if table in tables}
        fields: dict[str, list[Source]] = defaultdict(list)
        for column in lineage.origins.columns:
            fields[column.name] += column.sources
        facet = column_lineage_dataset.ColumnLineageDatasetFacet(
            {name: column_lineage_dataset.Fields(_fields(field, tables)) for name, field in fields.items()},
            _fields([*lineage.origins.rows, *_of_filters(record.filters)], tables),
        )
        return {"columnLineage": facet}


def _fields(
    sources: Iterable[Source], tables: Mapping[str, DatasetName]
) -> list[column_lineage_dataset.InputField]:
    """Returns each column once, with all its influences; sources that are not tables are left out."""
    found: dict[tuple[DatasetName, str], set[tuple[Influence, bool]]] = defaultdict(set)
    for source in sources:
        if source.table in tables:
            found[tables[source.table], source.column].add((source.influence, source.is_masked))
    return [
        column_lineage_dataset.InputField(
            name.namespace,
            name.name,
            column,
            [
                column_lineage_dataset.Transformation(
                    "DIRECT" if influence.is_direct else "INDIRECT", influence.value, masking=is_masked
                )
                for influence, is_masked in sorted(ways)
            ],
        )
        for (name, column), ways in sorted(found.items())
    ]


def _of_filters(filters: Iterable[FilterRecord]) -> Iterator[Source]:
    """Yields the join keys of filters: the join itself may be eliminated from the text that ran."""
    for filter_ in filters:
        if not filter_.is_applied or not filter_.is_candidate:
            continue
        for column in filter_.probe.columns:
            yield Source(str(filter_.probe.table), column, Influence.JOIN)
        if len(filter_.build.tables) == 1:
            for column in filter_.build.columns:
                yield Source(str(filter_.build.tables[0]), column, Influence.JOIN)
