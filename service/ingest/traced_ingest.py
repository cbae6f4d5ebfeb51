"""Attributes of traces: ingests, and the rounds that commit them."""

from __future__ import annotations

from service.model.ingest.ingest import IngestRecord
from service.model.ingest.writing import Committable
from service.tracing import Span


def reported(span: Span, record: IngestRecord) -> None:
    """Notes the accepted ingest, and its tables."""
    targets = [target for commit in record.commits for target in commit.targets]
    span.note(
        {
            "sluice.ingest_id": str(record.ingest_id),
            "sluice.caller": record.caller,
            "sluice.tables": [str(commit.key.table) for commit in record.commits],
            "sluice.rows": sum(target.record_count for target in targets),
            "sluice.bytes": sum(target.byte_count for target in targets),
            "sluice.files": sum(target.data_file_count for target in targets),
            "sluice.rejected": record.rejected.count,
        }
    )


def note_round(span: Span, committable: Committable) -> None:
    """Notes the content of a round, and its table."""
    results = committable.write_results
    span.note(
        {
            "sluice.round_id": str(committable.round_id),
            "sluice.table": str(committable.key.table),
            "sluice.branch": committable.key.branch,
            "sluice.ingests": len(committable.ingest_ids),
            "sluice.files": sum(len(result.data_files) + len(result.delete_files) for result in results),
        }
    )
