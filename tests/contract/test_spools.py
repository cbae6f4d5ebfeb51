"""The contract of `Spools`, for every implementation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from io import SEEK_END
from pathlib import Path

import pytest

from service.adapters.staging.spool import IN_MEMORY_BYTES, SpoolDirectory
from service.adapters.staging.task_spools import TaskSpools
from service.ports.tables.data_files import Spool, Spools
from tests.fakes.spools import FakeSpools


@pytest.fixture(params=["fake", "directory", "task"])
def spools(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Spools]:
    if request.param == "fake":
        yield FakeSpools()
        return
    if request.param == "task":
        yield TaskSpools()
        return
    with closing(SpoolDirectory(tmp_path / "spool", 16 * IN_MEMORY_BYTES)) as directory:
        yield directory


def all_of(spool: Spool) -> bytes:
    with spool.open() as opened:
        return opened.read()


@pytest.mark.parametrize(
    "parts", [[], [b"a"], [b"a", b"", b"bc"], [b"x" * (IN_MEMORY_BYTES - 1), b"yz", b"w"]]
)
def test_what_was_written_is_read_as_often_as_one_likes(spools: Spools, parts: list[bytes]) -> None:
    spool = spools.new()
    for part in parts:
        spool.write(part)
    for _ in range(2):
        with spool.open() as opened:
            assert opened.seek(0, SEEK_END) == sum(map(len, parts))
            assert opened.seek(0) == 0
            assert opened.read() == b"".join(parts)
    spool.close()
    spool.close()


def test_one_knows_nothing_of_another(spools: Spools) -> None:
    first, second = spools.new(), spools.new()
    first.write(b"1" * IN_MEMORY_BYTES * 2)
    second.write(b"2")
    assert all_of(second) == b"2"
    first.close()
    assert all_of(second) == b"2"
    second.close()
