"""A large body takes no more memory than a small one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.unit.ingest.decoding import big_body

ROOT = Path(big_body.__file__).parents[4]


def test_a_body_is_written_within_a_fraction_of_its_size(tmp_path: Path) -> None:
    command = [sys.executable, "-m", big_body.__name__, str(tmp_path), "300", "120"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert ran.returncode == 0, ran.stderr
    reported = json.loads(ran.stdout)
    assert reported["written"] == reported["made"] > 2_000_000
