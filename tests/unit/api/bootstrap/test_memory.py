"""The allocator returns large freed blocks to the system; this is tested in a separate process."""

from __future__ import annotations

import os
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


POOL = """
from api.bootstrap.memory import share_allocator_with_arrow
share_allocator_with_arrow()
import pyarrow as pa
print(pa.default_memory_pool().backend_name)
"""


def test_arrow_takes_its_memory_from_the_c_library_unless_the_operator_says_otherwise() -> None:
    for chosen, expected in ((None, "system"), ("mimalloc", "mimalloc")):
        names = os.environ.copy()
        names.pop("ARROW_DEFAULT_MEMORY_POOL", None)
        environment = names if chosen is None else names | {"ARROW_DEFAULT_MEMORY_POOL": chosen}
        found = subprocess.run(
            [sys.executable, "-c", POOL], env=environment, capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == expected


def test_the_command_line_imports_no_arrow_before_the_allocator_is_chosen() -> None:
    text = "import sys, api.cli.command_line, api.bootstrap.memory; print('pyarrow' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
