"""Converts the gateway's values to OpenLineage facets, and defines facets that OpenLineage lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

import attr
from openlineage.client.facet_v2 import (
    DatasetFacet,
    InputDatasetFacet,
    JobFacet,
    OutputDatasetFacet,
    RunFacet,
    dataset_type_dataset,
    dataset_version_dataset,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
    schema_dataset,
    set_producer,
    symlinks_dataset,
    tags_run,
)

from service.adapters.lineage.dataset_names import DatasetName, file_dataset
from service.adapters.lineage.lineage_tables import KnownTable
from service.model.query.scan_metrics import ScanRecord, Selection

SCHEMAS = "urn:sluice:lineage"
"""The namespace of our own facets' schemas: files of these names in docs/reference/lineage."""
MOST_FIELDS = 5_000


def _version() -> str:
    try:
        return version("sluice-gateway")
    except PackageNotFoundError:
        return "0"


VERSION = _version()
set_producer(f"urn:sluice:gateway:{VERSION}")


@attr.define
class PrunedScansInputDatasetFacet(InputDatasetFacet):
    """How much of one table a query's scans read, selected of total."""

    partitions: dict[str, int]
    manifests: dict[str, int]
    dataFiles: dict[str, int]  # noqa: N815
    size: dict[str, int]
    scanCount: int  # noqa: N815
    skippedScanCount: int  # noqa: N815

    @staticmethod
    def _get_schema() -> str:
        return f"{SCHEMAS}:PrunedScansInputDatasetFacet:1-0-0"


@attr.define
class WriteSchemasOutputDatasetFacet(OutputDatasetFacet):
    """The columns that the new data files hold, for each write schema."""

    writeSchemas: list[dict[str, object]]  # noqa: N815

    @staticmethod
    def _get_schema() -> str:
        return f"{SCHEMAS}:WriteSchemasOutputDatasetFacet:1-0-0"


@attr.define
class CommittedIngestsRunFacet(RunFacet):
    """The ingests that a commit round took."""

    count: int
    ingestIds: list[str]  # noqa: N815

    @staticmethod
    def _get_schema() -> str:
        return f"{SCHEMAS}:CommittedIngestsRunFacet:1-0-0"


def job_facets(job_type: str) -> dict[str, JobFacet]:
    """Returns the facet for the kind of job."""
    return {"jobType": job_type_job.JobTypeJobFacet("BATCH", "SLUICE", job_type)}


def run_facets(tags: Mapping[str, str], error_code: str | None = None) -> dict[str, RunFacet]:
    """Returns who ran it, for whom, and why it failed: the error's code, as its text may contain values."""
    engine = processing_engine_run.ProcessingEngineRunFacet(VERSION, "Sluice", version("openlineage-python"))
    facets: dict[str, RunFacet] = {"processing_engine": engine}
    if tags:
        fields = [
            tags_run.TagsRunFacetFields(clean(key), clean(value), "SLUICE") for key, value in tags.items()
        ]
        facets["tags"] = tags_run.TagsRunFacet(fields)
    if error_code is not None:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(error_code, "SQL")
    return facets


def clean(text: str) -> str:
    r"""Makes a caller's text readable for every receiver.

    >>> clean("half \ud800")
    'half ?'
    """
    return text.encode(errors="replace").decode()


def table_facets(
    name: DatasetName, known: KnownTable | None, snapshot_id: int | None
) -> dict[str, DatasetFacet]:
    """Returns the table's schema, version and other names, as it was read or written."""
    facets: dict[str, DatasetFacet] = {"datasetType": dataset_type_dataset.DatasetTypeDatasetFacet("TABLE")}
    if snapshot_id is not None:
        facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(str(snapshot_id))
    if known is not None:
        fields = [(column.name, column.type_name, column.doc) for column in known.columns]
        facets |= schema_facet(fields)
        facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet(_other_names(name, known.location))
    return facets


def schema_facet(columns: Iterable[tuple[str, str, str | None]]) -> dict[str, DatasetFacet]:
    """Returns columns by name, type and description; nothing if they are too many for an event."""
    fields = [
        schema_dataset.SchemaDatasetFacetFields(name, type_name, doc, position, None)
        for position, (name, type_name, doc) in enumerate(columns, start=1)
    ]
    return {} if len(fields) > MOST_FIELDS else {"schema": schema_dataset.SchemaDatasetFacet(fields)}


def input_facets(scans: Sequence[ScanRecord]) -> dict[str, InputDatasetFacet]:
    """Returns what scans of one table read, and the totals from which they selected."""
    if not scans:
        return {}
    metrics = [scan.metrics for scan in scans]
    files, sizes = (_sum(getattr(metric, level) for metric in metrics) for level in ("data_files", "bytes"))
    return {
        "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
            sum(metric.rows.selected for metric in metrics), sizes["selected"], files["selected"]
        ),
        "sluice_prunedScans": PrunedScansInputDatasetFacet(
            _sum(metric.partitions for metric in metrics),
            _sum(metric.manifests for metric in metrics),
            files,
            sizes,
            len(scans),
            sum(not scan.has_run for scan in scans),
        ),
    }


def output_statistics(
    row_count: int, byte_count: int, file_count: int | None
) -> dict[str, OutputDatasetFacet]:
    """Returns how much was written."""
    facet = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
    return {"outputStatistics": facet(row_count, byte_count, file_count)}


def _other_names(name: DatasetName, location: str) -> list[symlinks_dataset.Identifier]:
    """The table's names in OpenLineage's integration for Spark: its folder, and its name in the catalog."""
    folder = file_dataset(location)
    in_catalog = name.name.partition(".")[2]
    names = [symlinks_dataset.Identifier(name.namespace, in_catalog, "TABLE")]
    if folder is not None:
        names.insert(0, symlinks_dataset.Identifier(folder.namespace, folder.name, "LOCATION"))
    return names


def _sum(selections: Iterable[Selection]) -> dict[str, int]:
    found = list(selections)
    return {
        "selected": sum(selection.selected for selection in found),
        "total": sum(selection.total for selection in found),
    }
