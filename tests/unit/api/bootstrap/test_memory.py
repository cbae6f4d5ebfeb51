"""The allocator returns large freed blocks to the system; this is tested in a separate process."""

from __future__ import annotations

import subprocess
import sys

FREED = """
import psutil
from api.bootstrap.memory import give_back_large_blocks
give_back_large_blocks()
own = psutil.Process()
kept = []
for _ in range(4):
    blocks = [b"x" * 4_000_000 for _ in range(32)]
    # What is small and stays lies between them.
    kept.append([bytes(1000) for _ in range(1000)])
    del blocks
print(own.memory_info().rss)
"""


def test_freed_rows_do_not_stay_with_the_process() -> None:
    found = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 96 * 1024**2
