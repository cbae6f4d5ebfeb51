"""A commit is announced once it is made, and a failed one is not."""

from __future__ import annotations

from uuid import uuid4

import pytest

from service.errors.unavailable import CatalogDown
from service.ingest.committing.announced_commits import AnnouncedCommits
from service.model.ingest.writing import Committable, TableKey
from service.model.tables.tables import TableName
from tests.fakes.table_commits import FakeTableCommits

COMMITTABLE = Committable(TableKey(TableName("lake", "logs", "events"), "main"), uuid4(), (), ())


def test_a_commit_is_announced_after_it_was_made() -> None:
    fake, announced = FakeTableCommits(), list[tuple[TableName, int]]()
    fake.failures = [CatalogDown("It is down."), None]
    commits = AnnouncedCommits(fake, lambda table: announced.append((table, len(fake.rounds))))
    with pytest.raises(CatalogDown):
        commits.commit(COMMITTABLE)
    assert announced == []
    assert commits.commit(COMMITTABLE).snapshot_id == 1
    assert announced == [(COMMITTABLE.key.table, 1)]
