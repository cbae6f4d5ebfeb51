"""Every `make` command that the Makefile declares, or a document names, is there."""

from __future__ import annotations

import re

from docs.tooling.check import ROOT, documents

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def test_every_declared_command_has_a_recipe() -> None:
    [declared] = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert set(declared.split()) - TARGETS == set()


def test_every_command_that_a_document_names_is_there() -> None:
    named = {
        (page.name, command)
        for page in documents()
        for command in re.findall(
            r"(?:`|^\s*|\$ |=\S+ )make ([a-z-]+)\b", page.read_text("utf-8"), re.MULTILINE
        )
    }
    assert len({command for _, command in named}) > 10
    assert {(page, command) for page, command in named if command not in TARGETS} == set()
