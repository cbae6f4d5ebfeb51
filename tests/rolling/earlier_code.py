"""The code of an earlier commit, in a folder of its own."""

from __future__ import annotations

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

from tests.integration.running import REPOSITORY


def before_the_last_migration() -> str:
    """Returns the last commit whose schema is one step older than that of the working tree."""
    newest = max((REPOSITORY / "migrations" / "versions").glob("[0-9]*.py"))
    added = _git("log", "--diff-filter=A", "--format=%H", "-1", "--", str(newest)).decode().strip()
    return f"{added}^"


def unpacked(commit: str, folder: Path) -> Path:
    """Writes the files of a commit to a new folder, and returns it."""
    with tarfile.open(fileobj=BytesIO(_git("archive", "--format=tar", commit))) as files:
        files.extractall(folder, filter="data")
    return folder


def named(commit: str) -> str:
    """Returns the short hash and the subject of a commit."""
    return _git("log", "-1", "--format=%h (%s)", commit).decode().strip()


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, stdout=subprocess.PIPE, check=True).stdout
