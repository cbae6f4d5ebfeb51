"""Runs the samples of the README, the first steps and the tutorials against a gateway."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.docs.samples import ROOT, Page, Request, at_gateway, differences, page
from tests.integration.rest_catalog.jars import rest_catalog_class_path
from tests.integration.rest_catalog.server import rest_catalog_server
from tests.integration.running import RunningGateway, run_sluice

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]

OWN_CATALOG = "docs/tutorials/own-catalog.md"
PAGES = (
    "README.md",
    *(
        path.relative_to(ROOT).as_posix()
        for folder in ("start", "tutorials")
        for path in sorted((ROOT / "docs" / folder).glob("*.md"))
    ),
    # It appends another row to a table whose rows are counted above.
    "client/README.md",
)


@pytest.fixture(scope="module")
def running() -> Iterator[RunningGateway]:
    """One gateway for all pages, with the demo's data and the settings file of a tutorial."""
    # Not tmp_path: PostgreSQL may run as another user, who has no access to pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="sluice-docs-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        class_path = rest_catalog_class_path(folder / "rest-jars")
        server = stack.enter_context(rest_catalog_server(class_path, folder / "rest"))
        [(name, shown)] = page(OWN_CATALOG).files.items()
        (folder / name).write_text(_of_this_server(shown, server.uri))
        settings = {
            "SLUICE_CONFIG_FILE": str(folder / name),
            "SLUICE_SPARK_MASTER": "local[2]",
            "SLUICE_SPARK_DRIVER_MEMORY": "1g",
            # The pages show applied filters, which a slow machine may take longer to find.
            "SLUICE_CATALOG_FACTS_TIMEOUT_S": "60",
            "SLUICE_DYNAMIC_FILTERING_DETECTION_TIMEOUT_S": "60",
            "SLUICE_DYNAMIC_FILTERING_COLLECT_TIMEOUT_S": "200",
        }
        loaded = run_sluice("demo-data", folder / "data", settings, within_s=600)
        assert loaded.returncode == 0, loaded.stderr
        running = RunningGateway.start(folder / "data", settings, within_s=600)
        stack.callback(running.stop)
        yield running


@pytest.mark.parametrize("path", PAGES)
def test_the_samples_of_a_page_are_true(running: RunningGateway, tmp_path: Path, path: str) -> None:
    shown = page(path)
    assert shown.steps
    for name, content in shown.files.items():
        (tmp_path / name).write_text(content)
    for step in shown.steps:
        if isinstance(step, Request):
            _try(running, step, tmp_path)
        else:
            _run(step, running)


def test_every_page_has_samples() -> None:
    tried: list[Page] = [page(path) for path in PAGES]
    assert len(tried) > 5
    assert sum(isinstance(step, Request) for shown in tried for step in shown.steps) > 15


def _try(running: RunningGateway, request: Request, folder: Path) -> None:
    content = (folder / request.file).read_bytes() if request.file else request.body
    answer = running.client.request(request.method, request.path, content=content, headers=request.headers)
    assert answer.is_success, answer.text
    if request.expected is not None:
        found = _final(running.client, answer)
        assert list(differences(request.expected, found)) == [], request.path


def _final(client: httpx.Client, answer: httpx.Response) -> dict[str, Any]:
    """Waits until the query or ingest has ended; on a slow machine, that may be after its first answer."""
    found: dict[str, Any] = answer.json()
    while answer.status_code == 202 and "maintenanceId" not in found:
        wait = {"waitTimeout": "50s"} if "queryId" in found else {}
        answer = client.get(found["links"]["self"], params=wait)
        found = answer.json()
    return found


def _run(script: str, running: RunningGateway) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", at_gateway(script, running.url)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "client")])},
    )
    assert ran.returncode == 0, ran.stderr


def _of_this_server(shown: str, uri: str) -> str:
    lines = [f"    uri: {uri}" if line.startswith("    uri:") else line for line in shown.splitlines()]
    # The test's server has one warehouse, without a name.
    return "\n".join(line for line in lines if not line.startswith("    warehouse:")) + "\n"
