"""Rewrites the files of a round that no longer fit their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import (
    CommittableUnreadable,
    IngestInvalid,
    UpsertTooLarge,
    WrittenFileMissing,
)
from service.errors.table_errors import TableChanged
from service.ingest.committing.rewrite_target import (
    changed,
    is_current,
    rewrite_delete_target,
    rewrite_target,
)
from service.ingest.decoding.values.marked_rows import all_deletes
from service.model.ingest.commit_rounds import RoundPart, RoundRevision
from service.model.ingest.writing import MAIN, TableKey, WritableTable, WriteResult, WriteTarget
from service.ports.tables.data_files import DataFiles, WrittenRows
from service.ports.tables.table_changes import WritableTables


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A rewriter of rows from an earlier state of a table for its current state."""

    tables: WritableTables
    rows: WrittenRows
    data_files: DataFiles

    def revisions(
        self, key: TableKey, parts: Sequence[RoundPart], *, is_missing_final: bool = False
    ) -> list[RoundRevision]:
        """Returns a revision for each ingest whose files are for another schema or spec.

        It is empty where all files are for the current ones. Either all new files exist, or none. The earlier
        files stay. `is_missing_final`: an ingest whose files are missing is refused.

        Raises:
            TableNotFound: the table is missing.
            WrittenFileMissing: a file is missing, and this is not final.
            PartDown: the catalog or the storage does not answer.
        """
        table = self._table(key)
        revisions: list[RoundRevision] = []
        try:
            for part in parts:
                if not all(is_current(table, result.target) for result in part.write_results):
                    revisions.append(self._revision(table, part, is_missing_final))
        except BaseException:
            before = [result for part in parts for result in part.write_results]
            for revision in revisions:
                self.discard(key, without_files(revision.write_results, before))
            raise
        return revisions

    def discard(self, key: TableKey, results: Iterable[WriteResult]) -> None:
        """Deletes files that no snapshot has or ever will have; those that cannot be deleted are orphans."""
        with suppress(GatewayError):
            table = self._table(key)
            for result in results:
                self.data_files.discard(table, result)

    def _table(self, key: TableKey) -> WritableTable:
        # If the branch is a tag by now, the commit has already refused it, with that reason.
        return replace(self.tables.writable(key.table, MAIN), key=key)

    def _revision(self, table: WritableTable, part: RoundPart, is_missing_final: bool) -> RoundRevision:
        made: list[WriteResult] = []
        try:
            for result in part.write_results:
                before = len(made)
                made += [result] if is_current(table, result.target) else self._rewritten(table, result)
                if result.target.order_field_id is not None:
                    made[before:] = _as_one(made[before:])
        except (TableChanged, CommittableUnreadable, IngestInvalid) as error:
            self.discard(table.key, without_files(made, part.write_results))
            if isinstance(error, WrittenFileMissing) and not is_missing_final:
                raise
            return RoundRevision(part.ingest_id, refusal=error.detail)
        except BaseException:
            self.discard(table.key, without_files(made, part.write_results))
            raise
        return RoundRevision(part.ingest_id, tuple(_joined(made)))

    def _rewritten(self, table: WritableTable, result: WriteResult) -> Iterator[WriteResult]:
        if result.delete_files and not result.target.is_upsert:
            raise changed(table, "nobody can say which rows its delete files mean.")
        if result.target.is_upsert and (result.delete_count or not result.data_files):
            # Before the rows, as a row of the same result replaces what its own key deletes.
            yield from self._rewritten_deletes(table, result)
        if not result.data_files:
            return
        written = self.rows.columns(table, result.data_files[0])
        target = rewrite_target(table, result.target, written)
        record_count = 0
        for made in self._made(table, target, result.data_files):
            yield made
            record_count += made.record_count
        # This holds for an upsert too: none of its keys was written twice.
        if record_count != result.record_count:
            raise CommittableUnreadable(f"{record_count} of {result.record_count} rows were there.")

    def _rewritten_deletes(self, table: WritableTable, result: WriteResult) -> Iterator[WriteResult]:
        """Yields results with all keys of the delete files, and no rows; none if there are no such files.

        The keys of rows are among them, and are deleted again with those rows. The first result has the count
        of all keys that are only deleted.
        """
        if not result.delete_files:
            return
        written = self.rows.columns(table, result.delete_files[0])
        target = rewrite_delete_target(table, result.target, written)
        count = result.delete_count
        for made in self._made_deletes(table, target, result.delete_files):
            yield replace(made, delete_count=count)
            count = 0

    def _made_deletes(
        self, table: WritableTable, target: WriteTarget, delete_files: Sequence[str]
    ) -> Iterator[WriteResult]:
        try:
            keys = self.rows.batches(table, target, delete_files)
            yield self.data_files.write(table, target, map(all_deletes, keys))
        except UpsertTooLarge:
            for batch in self.rows.batches(table, target, delete_files):
                yield self.data_files.write(table, target, [all_deletes(batch)])

    def _made(
        self, table: WritableTable, target: WriteTarget, data_files: Sequence[str]
    ) -> Iterator[WriteResult]:
        """Yields one result; for an upsert with too many rows, one for each file, or for each part of a file.

        Its rows can have become too many because a type is wider now, or the operator allows less. The rows
        of an upsert have different keys, whatever file they are in, so its new deletes are those of the keys
        of its rows.
        """
        try:
            yield self.data_files.write(table, target, self.rows.batches(table, target, data_files))
        except UpsertTooLarge:
            if len(data_files) > 1:
                for file in data_files:
                    yield from self._made(table, target, [file])
                return
            for batch in self.rows.batches(table, target, data_files):
                yield self.data_files.write(table, target, [batch])


def _joined(results: Sequence[WriteResult]) -> Iterator[WriteResult]:
    """Yields one result for each upsert, as before, in the order in which they take effect."""
    for target, group in groupby(results, key=lambda result: result.target):
        own = list(group)
        is_split = target.is_upsert and target.order_field_id is None
        yield from [WriteResult.merged(target, own)] if is_split else own


def _as_one(made: Sequence[WriteResult]) -> Sequence[WriteResult]:
    """Returns the results of an ordered one as one: a late record is counted once for each of them."""
    # The rows come last, and their target is that of the result.
    return [WriteResult.merged(made[-1].target, made)] if made else made


def without_files(results: Iterable[WriteResult], others: Iterable[WriteResult]) -> list[WriteResult]:
    """Returns the results without the files that others have too."""
    in_others = {file for other in others for file in (*other.data_files, *other.delete_files)}
    return [
        replace(
            result,
            data_files=tuple(file for file in result.data_files if file not in in_others),
            delete_files=tuple(file for file in result.delete_files if file not in in_others),
        )
        for result in results
    ]


def has_files(results: Iterable[WriteResult], files: frozenset[str]) -> bool:
    """Returns whether any of these files is among those of the results."""
    return any(not files.isdisjoint((*result.data_files, *result.delete_files)) for result in results)
