from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest

from service.adapters.embedded.postgres_programs import is_root, system_user
from service.errors.gateway_error import CannotStart

ASK = """
import sys
from service.adapters.embedded.postgres_programs import system_user
print(system_user(sys.argv[1]).pw_uid)
"""

PROCESSES = 8

pytestmark = pytest.mark.skipif(
    not is_root() or shutil.which("useradd") is None, reason="only root makes users, and not everywhere"
)


@pytest.fixture
def name() -> Iterator[str]:
    name = f"sluice-{uuid4().hex[:8]}"
    yield name
    subprocess.run(["userdel", name], check=False, capture_output=True)


def test_processes_that_start_at_once_make_one_user(name: str) -> None:
    asking = [
        subprocess.Popen([sys.executable, "-c", ASK, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    reported = [process.communicate(timeout=60) for process in asking]
    assert len({uid for uid, _ in reported}) == 1, reported
    assert [process.returncode for process in asking] == [0] * PROCESSES, reported


def test_a_name_that_no_user_can_have_is_reported() -> None:
    with pytest.raises(CannotStart, match="could not be made"):
        system_user("no:name")
