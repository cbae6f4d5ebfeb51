"""`make demo` as a new user runs it: from an empty folder to two answers and a commit."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import psutil
import pytest

from tests.integration.running import COMMAND, REPOSITORY, environment, share_jars

pytestmark = pytest.mark.integration

WITHIN_S = 270


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    path = Path(mkdtemp(prefix="sluice-demo-"))
    share_jars(path)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def reported(data_dir: Path) -> str:
    """The demo's whole output, with its lines at full width."""
    ran = subprocess.run(
        [*COMMAND, "demo"],
        cwd=REPOSITORY,
        env=environment(data_dir, {}) | {"COLUMNS": "160"},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.timeout(WITHIN_S + 30)
def test_a_question_is_answered_from_the_files_that_its_year_is_in(reported: str) -> None:
    pruned, _, plain = reported.partition("without dynamic filtering\n")
    selected, total = files_of("store_returns", pruned)
    assert 0 < selected < total / 3
    # Spark itself skips returns without a day, which join nothing.
    assert files_of("store_returns", plain) == (total - 1, total)
    assert not re.search(r" 0 of 0$", reported, re.MULTILINE)
    assert "keys of lake.tpcds.date_dim where" in reported
    assert "APPLIED" in reported
    months = re.findall(r"^│ +(\d+) │ +(\d+) │ +[\d.]+ │$", reported, re.MULTILINE)
    assert [int(month) for month, _ in months] == list(range(1, 13))


@pytest.mark.timeout(WITHIN_S + 30)
def test_log_types_with_write_schemas_of_their_own_are_one_snapshot(reported: str) -> None:
    kinds = re.findall(r"^│ +(\w+) │ +40 │ +300 │ +(\d+) │$", reported, re.MULTILINE)
    assert [name for name, _ in kinds] == ["http", "auth", "db", "cache", "queue"]
    files = sum(int(count) for _, count in kinds)
    assert f": 1,500 records, {files} files, " in reported
    assert len(re.findall(r"until snapshot \d+ was committed", reported)) == 1


@pytest.mark.timeout(WITHIN_S + 30)
def test_a_question_opens_no_file_that_lacks_its_column(reported: str) -> None:
    _, _, rest = reported.partition("was committed")
    selected, total = files_of("events", rest)
    assert 0 < selected <= total / 5
    assert re.search(r"^ +[1-9]\d* requests\.", rest, re.MULTILINE)


@pytest.mark.timeout(WITHIN_S + 30)
def test_nothing_runs_on_and_nothing_was_cut(reported: str, data_dir: Path) -> None:
    assert "The gateway has stopped." in reported
    assert "Traceback" not in reported
    assert "None" not in reported
    own = [process for process in psutil.process_iter() if is_of(process, str(data_dir))]
    assert not own


def is_of(process: psutil.Process, folder: str) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and any(
            folder in argument for argument in process.cmdline()
        )
    except psutil.Error:
        return False


def files_of(table: str, text: str) -> tuple[int, int]:
    """Returns the selected and total number of data files of this table's scan."""
    found = re.search(
        rf"^  lake\.\w+\.{table}\n(?:    .*\n)*?    data files +([\d,]+) of ([\d,]+)$", text, re.MULTILINE
    )
    assert found is not None, text
    selected, total = (int(group.replace(",", "")) for group in found.groups())
    return selected, total
