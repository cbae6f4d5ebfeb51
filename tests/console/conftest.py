from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.console.browsers import DESKTOP, PHONE, Watched, chromium, started, violations
from tests.console.tables import make_tables
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.running import PRUNES_THOUGH_BUSY, RunningGateway
from tests.java_options import long_lived_jvms

ADMIN = "token-of-the-console-tests"
OPERATOR = ("operator", "admin")
"""The roles of who may do everything: by policies, and as an administrator of the gateway."""
POLICIES = {
    "version": 0,
    "roles": {
        "reader": {"grants": [{"tables": "lake.*.*", "actions": ["select", "describe"]}]},
        "loader": {
            "grants": [
                {
                    "tables": "lake.inbox.*",
                    "actions": ["select", "describe", "insert", "modify", "create"],
                }
            ]
        },
        "operator": {"grants": [{"tables": "*.*.*", "actions": ["admin"]}]},
        # Nobody has it: the console shows what it would mean.
        "analyst": {
            "grants": [{"tables": "lake.shop.*", "actions": ["select"]}],
            "rowFilters": [{"tables": "lake.shop.sales", "predicate": "day_key < 7"}],
            "masks": [{"tables": "lake.shop.sales", "column": "note", "mask": "redact"}],
        },
    },
}
READY_WITHIN_S = 400.0
"""All walks wait for this one gateway, also on a machine that does much else."""
PICTURES = os.environ.get("SLUICE_CONSOLE_PICTURES")
"""A folder for pictures of the rooms. Those of the documentation are made so."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = chromium()
    if program is None:
        pytest.skip("there is no Chromium: `make console-test` brings it")
    with started(program) as browser:
        yield browser


def sources_of(data_dir: Path) -> Path:
    """Returns the folder whose files streams may read."""
    return data_dir.parent / "sources"


@pytest.fixture(scope="session")
def gateway(browser: Any) -> Iterator[RunningGateway]:
    """A gateway that asks everyone for a key; only where there is a browser."""
    del browser
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="sluice-console-"))
    settings = {
        **PRUNES_THOUGH_BUSY,
        "SLUICE_API_TOKENS": f'{{"ops": "{hashlib.sha256(ADMIN.encode()).hexdigest()}"}}',
        "SLUICE_API_KEYS": "true",
        "SLUICE_API_KEY_CACHE_TTL_S": "1",
        "SLUICE_ADMINS": "ops",
        "SLUICE_AUTHORIZATION": "policies",
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        "SLUICE_INGEST_SOURCE_PREFIXES": sources_of(folder / "data").as_uri(),
        "SLUICE_DYNAMIC_FILTERING_MIN_TABLE_BYTES": "0",
        # Otherwise, tables as small as these are read into memory, and their scans have nothing to prune.
        "SLUICE_LOCAL_RELATION_MAX_ROWS": "0",
    }
    try:
        with long_lived_jvms():
            running = RunningGateway.start(folder / "data", settings, within_s=READY_WITHIN_S)
        try:
            with closing(embedded_catalog(running.data_dir)) as lake:
                make_tables(lake)
            with closing(running.client_with(ADMIN)) as client:
                assert client.put("/policies", json=POLICIES).status_code == 200
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Key:
    text: str
    key_id: str


MakeKey = Callable[..., Key]


@pytest.fixture
def make_key(gateway: RunningGateway) -> MakeKey:
    def make(name: str, roles: Sequence[str] = ("reader",)) -> Key:
        body = {"principal": name, "roles": list(roles), "expiresInDays": 1}
        with closing(gateway.client_with(ADMIN)) as client:
            made = client.post("/keys", json=body).json()
        return Key(made["key"], made["keyId"])

    return make


@pytest.fixture
def opened(browser: Any, gateway: RunningGateway) -> Iterator[Callable[..., Watched]]:
    """Opens pages; with a key, as who has it. At the end, none has had an error, or asked another host."""
    contexts: list[Any] = []
    pages: list[Watched] = []

    def open_page(path: str = "/", key: str | None = None, **options: Any) -> Watched:
        context = browser.new_context(base_url=gateway.url, **({"viewport": DESKTOP} | options))
        context.set_default_timeout(30_000)
        if key is not None:
            headers = {"Authorization": f"Bearer {key}", "X-Sluice-Console": "1"}
            assert context.request.post("/console/session", headers=headers).ok
        contexts.append(context)
        watched = Watched(context.new_page())
        pages.append(watched)
        watched.page.goto(path)
        return watched

    yield open_page
    for context in contexts:
        context.close()
    for watched in pages:
        assert watched.errors == []
        assert watched.hosts <= {gateway.url.removeprefix("http://")}


LoggedIn = Callable[..., Any]


@pytest.fixture(scope="session")
def kept_keys() -> dict[tuple[str, tuple[str, ...]], Key]:
    """Keys by principal and roles, for tests that do nothing to the keys themselves."""
    return {}


@pytest.fixture
def logged_in(
    opened: Callable[..., Watched],
    make_key: MakeKey,
    kept_keys: dict[tuple[str, tuple[str, ...]], Key],
) -> LoggedIn:
    """Opens pages with a session. The form, which gives one to users, has walks of its own."""

    def open_page(
        path: str = "/", name: str = "kim", roles: Sequence[str] = ("reader",), **options: Any
    ) -> Any:
        who = (name, tuple(roles))
        if who not in kept_keys:
            kept_keys[who] = make_key(name, roles)
        page = opened(path, key=kept_keys[who].text, **options).page
        page.get_by_role("navigation", name="Rooms").wait_for()
        return page

    return open_page


def picture(page: Any, name: str) -> None:
    """Keeps a picture of the page, if there is a folder for it."""
    if PICTURES is not None:
        page.screenshot(path=f"{PICTURES}/{name}.png")


def fits_everyone(page: Any, name: str) -> None:
    """Checks the page as it is now on a screen and on a phone, light and dark: by axe-core, and its width.

    Each gets a picture. At the end, the page is on a screen again.
    """
    for size, viewport in (("phone", PHONE), ("desktop", DESKTOP)):
        page.set_viewport_size(viewport)
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            picture(page, f"{name}-{size}-{scheme}")
            assert violations(page) == [], (name, size, scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, size)
