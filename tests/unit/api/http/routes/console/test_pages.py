"""Tests the files of the console, and what browsers may do with them."""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.console.built_files import built_files
from docs.tooling.console_words import (
    CURE_WORDS,
    FUNCTION_WORDS,
    SOURCE_WORDS,
    WORDS,
    cure_words,
    function_words,
    source_words,
    words,
)
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

SOURCES = Path(__file__).parents[6] / "console"
BUILT = Path(__file__).parents[6] / "api/http/console/static"
MOST_COMPRESSED = 300_000
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
CLOSED = Settings(api_tokens={"ada": "0" * 64})


def linked(page: str) -> list[str]:
    return re.findall(r'(?:src|href)="([^"]+)"', page)


@pytest.mark.parametrize("settings", [Settings(), CLOSED])
async def test_a_browser_is_led_to_the_page_and_gets_all_that_it_names(
    running: Running, settings: Settings
) -> None:
    async with running(settings) as client:
        led = await client.get("/", headers=BROWSER)
        assert (led.status_code, led.headers["location"]) == (307, "/console")
        page = await client.get("/console")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert (await client.get("/console/")).text == page.text
        names = linked(page.text)
        assert len(names) == 3
        for name in names:
            file = await client.get(name)
            assert file.status_code == 200
            # Only a name that has the hash of the bytes stands for them for ever.
            kept = "public, max-age=31536000, immutable" if "-" in name else "no-cache"
            assert file.headers["cache-control"] == kept
            assert file.headers["x-content-type-options"] == "nosniff"


async def test_the_page_may_run_its_own_script_and_nothing_else(client: httpx.AsyncClient) -> None:
    page = await client.get("/console")
    [policy] = page.headers.get_list("content-security-policy")
    rules = dict(part.split(" ", 1) for part in policy.split("; "))
    assert rules["default-src"] == rules["form-action"] == rules["frame-ancestors"] == "'none'"
    for kind in ("script-src", "style-src", "connect-src"):
        assert rules[kind] == "'self'"
    assert page.headers["x-frame-options"] == "DENY"
    # A page that opened it could otherwise put another query into it just before the user runs one.
    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert "<style" not in page.text
    assert re.findall(r"<script[^>]*>", page.text) == re.findall(
        r'<script type="module" src="/[^"]+">', page.text
    )
    assert not re.search(r"\son\w+=|style=", page.text)


def test_no_file_asks_another_host() -> None:
    for name in ("index.html", *(name for name in built_files() if name.endswith(".css"))):
        assert b"//" not in built_files()[name].plain.replace(b"http://www.w3.org/2000/svg", b"")


async def test_a_file_is_sent_once(client: httpx.AsyncClient) -> None:
    for path in ("/console", *linked((await client.get("/console")).text)):
        first = await client.get(path, headers={"Accept-Encoding": "gzip, br, zstd"})
        assert first.headers["content-encoding"] == "gzip"
        again = await client.get(
            path, headers={"Accept-Encoding": "gzip", "If-None-Match": first.headers["etag"]}
        )
        assert (again.status_code, again.content) == (304, b"")
        weak = {"Accept-Encoding": "gzip", "If-None-Match": f'"a", W/{first.headers["etag"]}'}
        assert (await client.get(path, headers=weak)).status_code == 304
        plain = await client.get(path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == first.content
        assert plain.headers["etag"] != first.headers["etag"]


@pytest.mark.parametrize(
    "name",
    [
        "index.html",
        "sources.sha256",
        "nothing.js",
        "..%2F__init__.py",
        "../built_files.py",
        "%2e%2e/app.py",
        "a%00.js",
    ],
)
async def test_no_other_file_is_served(client: httpx.AsyncClient, name: str) -> None:
    answer = await client.get(f"/console/static/{name}")
    assert answer.status_code == 404
    assert answer.json()["code"] == "ROUTE_NOT_FOUND"


async def test_for_programs_there_is_nothing_at_the_root(running: Running) -> None:
    async with running(Settings()) as client:
        for accept in ("application/json", "*/*"):
            answer = await client.get("/", headers={"Accept": accept})
            assert (answer.status_code, answer.json()["code"]) == (404, "ROUTE_NOT_FOUND")


async def test_an_operator_can_leave_it_out(running: Running) -> None:
    async with running(Settings(console=False)) as client:
        for path in ("/", "/console", "/console/session", "/console/static/mark.svg"):
            assert (await client.get(path, headers=BROWSER)).status_code == 404


def test_what_is_shipped_was_built_from_the_sources_here() -> None:
    stamped = (BUILT / "sources.sha256").read_text().strip()
    own = ("build.mjs", "package-lock.json", "package.json", "tsconfig.json")
    paths = [path for path in (SOURCES / "source").rglob("*") if path.is_file()]
    names = sorted([path.relative_to(SOURCES).as_posix() for path in paths] + list(own))
    found = hashlib.sha256()
    for name in names:
        found.update(f"{name}\n".encode() + (SOURCES / name).read_bytes())
    assert found.hexdigest() == stamped, "run `make console`, and commit what it builds"


NEEDS_NODE = pytest.mark.skipif(
    shutil.which("node") is None or not (SOURCES / "node_modules").exists(),
    reason="there is no Node, or `make console` has not run here",
)


@NEEDS_NODE
def test_a_build_makes_the_very_files_that_are_shipped(tmp_path: Path) -> None:
    subprocess.run(["node", str(SOURCES / "build.mjs"), str(tmp_path)], check=True, cwd=SOURCES, timeout=120)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in BUILT.iterdir()}


@NEEDS_NODE
def test_the_rules_of_the_page_hold() -> None:
    subprocess.run(["node", "--test"], check=True, cwd=SOURCES, timeout=120)


def test_the_files_are_small_enough_for_slow_lines() -> None:
    assert sum(len(gzip.compress(file.plain, 9)) for file in built_files().values()) < MOST_COMPRESSED


def test_the_reasons_of_filters_are_in_the_same_words() -> None:
    hint = "run `python -m docs.tooling.console_words`, then `make console`"
    assert WORDS.read_text() == words(), hint
    assert SOURCE_WORDS.read_text(encoding="utf-8") == source_words(), hint
    assert CURE_WORDS.read_text(encoding="utf-8") == cure_words(), hint
    assert FUNCTION_WORDS.read_text(encoding="utf-8") == function_words(), hint
