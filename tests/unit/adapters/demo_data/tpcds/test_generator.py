"""The child process, with a script in place of Java."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from service.adapters.demo_data.tpcds.generator import Generator
from service.errors.gateway_error import CannotStart, PartDown

FOLDER_AND_TABLE = """
while [ $# -gt 0 ]; do
  case "$1" in --directory) d="$2";; --table) t="$2";; esac
  shift
done
"""


def generator(tmp_path: Path, script: str) -> Generator:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{FOLDER_AND_TABLE}\n{script}\n")
    java.chmod(0o755)
    return Generator(java, (tmp_path / "tpcds.jar",), tmp_path / "text")


def test_each_table_is_read_in_turn_and_its_text_is_removed(tmp_path: Path) -> None:
    made = generator(tmp_path, 'echo "1|" > "$d/${t}_1_2.dat"; : > "$d/${t}_2_2.dat"')
    seen = {table: [file.name for file in files] for table, files in made.texts(["item", "store"], 1)}
    assert seen == {"item": ["item_1_2.dat"], "store": ["store_1_2.dat"]}
    assert not list((tmp_path / "text").iterdir())


def test_an_exception_in_a_thread_is_a_failure_although_the_exit_code_is_zero(tmp_path: Path) -> None:
    made = generator(tmp_path, "echo 'Exception in thread \"Thread-0\" TpcdsException: oops' >&2")
    with pytest.raises(PartDown, match=r"could not make item: .*oops"):
        list(made.texts(["item"], 1))


def test_a_full_disk_is_one_sentence_with_the_cure(tmp_path: Path) -> None:
    made = generator(tmp_path, "echo 'java.io.IOException: No space left on device' >&2; exit 1")
    with pytest.raises(CannotStart, match="The disk is full: make room in"):
        list(made.texts(["item"], 1))


def test_a_java_that_is_gone_is_named(tmp_path: Path) -> None:
    made = Generator(tmp_path / "gone", (), tmp_path / "text")
    with pytest.raises(CannotStart, match="install Java 17 or 21"):
        list(made.texts(["item"], 1))


def test_an_interrupted_load_leaves_no_child_and_no_text(tmp_path: Path) -> None:
    # The table item is made at once; store would run until the iterator is closed.
    made = generator(tmp_path, f'echo $$ > "{tmp_path}/$t.pid"; [ "$t" = item ] || exec sleep 600')
    with closing(made.texts(["item", "store"], 1)) as texts:
        next(texts)
    assert not list((tmp_path / "text").iterdir())
    process_id = tmp_path / "store.pid"
    # The process may have been stopped before or while it wrote its id.
    said = process_id.read_text().strip() if process_id.exists() else ""
    assert not said or not is_running(int(said))


def is_running(process_id: int) -> bool:
    return Path(f"/proc/{process_id}").exists()
