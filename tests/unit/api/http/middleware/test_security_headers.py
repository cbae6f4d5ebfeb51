"""Tests that answers tell browsers what they must not do."""

from __future__ import annotations

import base64
import hashlib
import re

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.middleware.security_headers import SecurityHeaders
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

OF_ALL = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.mark.parametrize(
    "path", ["/query", "/nothing", "/healthz", "/metrics", "/openapi.json", "/filters?limit=x", "/docs"]
)
async def test_each_answer_has_the_headers(client: httpx.AsyncClient, path: str) -> None:
    headers = (await client.get(path)).headers
    assert {name: headers[name] for name in OF_ALL} == OF_ALL
    assert headers["cache-control"] == "no-store"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "strict-transport-security" not in headers


async def test_refused_hosts_and_callers_and_defects_have_them_too(
    running: Running, gateway: FakeGateway
) -> None:
    gateway.queries.refusal = RuntimeError("a defect")
    async with running(Settings()) as client:
        host = await client.get("/query", headers={"Host": "evil.example"})
        defect = await client.post("/query", json={"sql": "select 1"})
    async with running(Settings(api_tokens={"ada": "0" * 64})) as client:
        caller = await client.get("/query")
    for answer, status in ((host, 421), (defect, 500), (caller, 401)):
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.headers.get_list("content-security-policy")) == 1


# The library opens its files by a function that Python has deprecated.
@pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")
async def test_the_page_to_try_requests_runs_only_its_own_scripts(client: httpx.AsyncClient) -> None:
    answer = await client.get("/docs")
    policy = answer.headers["content-security-policy"]
    scripts = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    assert scripts
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    [allowed] = [part for part in policy.split("; ") if part.startswith("script-src")]
    assert "unsafe" not in allowed
    for path in re.findall(r'(?:src|href)="([^"]+)"', answer.text):
        assert path.startswith("http://localhost/")
        static = await client.get(path)
        assert static.status_code == 200
        assert "no-store" not in static.headers.get("cache-control", "")


async def test_the_explanation_keeps_its_own_policy(client: httpx.AsyncClient) -> None:
    sent = (await client.post("/query", json={"sql": "select 1"})).json()
    answer = await client.get(f"/explain/{sent['queryId']}", headers={"Accept": "text/html"})
    [policy] = answer.headers.get_list("content-security-policy")
    assert "style-src 'unsafe-inline'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy


async def test_with_tls_browsers_stay_with_it() -> None:
    sent: list[dict[str, object]] = []

    async def app(_scope: object, _receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]

    async def keep(message: dict[str, object]) -> None:
        sent.append(message)

    secure = SecurityHeaders(app, has_tls=True)
    await secure({"type": "http", "path": "/query"}, None, keep)  # type: ignore[arg-type]
    assert (b"strict-transport-security", b"max-age=31536000") in sent[0]["headers"]  # type: ignore[operator]
