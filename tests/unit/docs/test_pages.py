"""The words and links of the documents, and the navigation of the site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from docs.tooling.check import GENERATED, ROOT, documents
from docs.tooling.links import broken_links, missing_files, missing_tests
from docs.tooling.prose import faults

NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
DECISIONS = ROOT / "docs" / "contributing" / "adr"


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("The scan is narrowed by its keys.", "narrowed"),
        ("The type of the column is narrower.", None),
        ("The mention of a table has filters.", "mention"),
        ("The answer has a field `mention`.", None),
        ("Rejected records go to dead letters.", None),
        ("The letters go to a table.", "letters"),
        ("Nobody is told.", "told"),
        ("Of several records the last one counts.", "Of several records the last one counts."),
        ("What did not run is not listed.", "What did not run is not listed."),
        ("What does it cost?", None),
        ("It is none of the keys.", "is none of"),
        ("```\nOf what is told\n```", None),
    ],
)
def test_a_stumble_is_found(sentence: str, found: str | None) -> None:
    named = [fault.found for fault in faults(sentence)]
    assert (found in named) if found else (named == [])


def test_a_fault_has_the_line_of_its_paragraph() -> None:
    assert [fault.line for fault in faults("# A page\n\nFine.\n\n- fine\n- it is told\n")] == [6]


def test_generated_pages_are_there() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in documents()}
    assert names >= GENERATED


def test_links_to_other_places_are_not_followed() -> None:
    assert list(broken_links(ROOT / "README.md")) == []


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("unit/docs/test_pages.py::test_a_stumble_is_found", True),
        ("tests/unit/docs/test_pages.py::test_a_stumble_is_found", True),
        ("unit/docs/test_pages.py::test_that_was_renamed", False),
        ("unit/docs/test_file_that_was_renamed.py::test_a_stumble_is_found", False),
    ],
)
def test_a_test_that_a_page_names_exists(tmp_path: Path, name: str, is_there: bool) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"| a row | shown by `{name}` |\n", encoding="utf-8")
    assert list(missing_tests(page, ROOT)) == ([] if is_there else [name])


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("`service/pruning/detect.py`", []),
        ("`service/pruning/no_such.py`", ["service/pruning/no_such.py"]),
        ("`service/pruning/detect.py`, `filter_planner.py`", []),
        ("`filter_planner.py` of `service/pruning/`", []),
        ("`service/pruning/detect.py`, `no_such.py`, `rewrites/`", ["no_such.py"]),
        ("`service/query/execution/validate.py`, `query/filtering/`", []),
        ("`no_such.py`, in no folder", []),
        ("`SELECT a / b`, `service/pruning/`", []),
    ],
)
def test_files_that_do_not_exist_are_found(line: str, missing: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(line)
    assert list(missing_files(page, ROOT)) == missing


def test_every_page_is_in_the_navigation() -> None:
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    decisions = {page for page in pages if re.match(r"contributing/adr/0", page)}
    named = set(re.findall(r"(\S+\.md)$", NAVIGATION, re.MULTILINE))
    assert pages - decisions - named == set()


def test_every_decision_is_listed_and_no_number_is_missing_without_a_word() -> None:
    index = (DECISIONS / "index.md").read_text(encoding="utf-8")
    numbers = {int(page.name[:4]) for page in DECISIONS.glob("0*.md")}
    assert {int(number) for number in re.findall(r"^\| \[(\d+)\]", index, re.MULTILINE)} == numbers
    [sentence] = re.findall(r"^The numbers (.*?) were never", index, re.MULTILINE)
    unused = {int(number) for number in re.findall(r"\d+", sentence)}
    assert numbers | unused == set(range(1, max(numbers) + 1))
    assert numbers & unused == set()


def test_the_site_asks_no_other_host() -> None:
    assert "font: false" in NAVIGATION
    assert "://" not in NAVIGATION
    assert yaml.safe_load(NAVIGATION)["plugins"] == ["search"]
