"""The process ends even if its stop hangs."""

from __future__ import annotations

import subprocess
import sys
import threading

from api.cli.stop_deadline import StopDeadline

HANGS = """
import threading
from concurrent.futures import ThreadPoolExecutor
from api.cli.stop_deadline import StopDeadline
ThreadPoolExecutor(1, thread_name_prefix="stuck").submit(threading.Event().wait)
StopDeadline(0.1).begin()
"""


def test_threads_that_never_end_do_not_keep_the_process_alive() -> None:
    ended = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "stuck_0" in ended.stdout + ended.stderr


def test_the_end_comes_once_the_time_is_over() -> None:
    is_ended = threading.Event()
    StopDeadline(0.0, end=is_ended.set).begin()
    assert is_ended.wait(20)
