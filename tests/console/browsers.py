"""A real Chromium, if this machine has one, and what its page did that no user would see."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_ENVIRONMENT = Path(__file__).parents[2] / ".venv"
DRIVER = _ENVIRONMENT / "console"
"""Playwright, which has no place among what all tests import."""
INSTALLED = _ENVIRONMENT / "browser"
AXE = INSTALLED / "node_modules/axe-core/axe.min.js"
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def chromium() -> Path | None:
    """Returns the path of a Chromium; None: there is none.

    `SLUICE_TEST_CHROMIUM` is that of another one.
    """
    program = Path(os.environ.get("SLUICE_TEST_CHROMIUM", INSTALLED / "chromium"))
    return program if program.exists() and (DRIVER / "playwright").exists() else None


@contextmanager
def started(program: Path) -> Iterator[Any]:
    """Starts a browser without a window."""
    sys.path.append(str(DRIVER))
    from playwright.sync_api import sync_playwright

    # A container's root has no room for the browser's own sandbox.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=options, env=_environment(program))
        yield browser
        browser.close()


def _environment(program: Path) -> dict[str, str | float | bool]:
    """This process's, with libraries and fonts if the machine has none of its own."""
    added: dict[str, str] = {}
    if "not found" in subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout:
        added["LD_LIBRARY_PATH"] = str(INSTALLED / "lib")
    if not Path("/etc/fonts/fonts.conf").exists():
        added["FONTCONFIG_PATH"] = str(INSTALLED)
    return {**os.environ, **added}


@dataclass
class Watched:
    """A page, with its errors and with all hosts that it asked."""

    page: Any
    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))

    def _note(self, message: Any) -> None:
        # The browser reports each answer of an error as one: those are expected.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)


def violations(page: Any) -> list[str]:
    """Returns what axe-core finds wrong with the page as it is now."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("tags => axe.run({runOnly: {type: 'tag', values: tags}})", _RULES)
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:200]}: {node.get('failureSummary', '')}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
