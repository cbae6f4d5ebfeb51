"""A real Chromium, if this machine has one, and what its page did that no user would see."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parents[2] / "console/node_modules/axe-core/axe.min.js"
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def chromium() -> str | None:
    """Returns the path of a Chromium; None: there is none."""
    own = os.environ.get("SLUICE_TEST_CHROMIUM")
    return own or next((path for name in PROGRAMS if (path := shutil.which(name))), None)


@contextmanager
def started(program: str) -> Iterator[Any]:
    """Starts a browser without a window."""
    from playwright.sync_api import sync_playwright

    # A container's root has no room for the browser's own sandbox.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=options)
        yield browser
        browser.close()


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
