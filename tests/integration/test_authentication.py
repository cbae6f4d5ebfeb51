"""Tests authentication on a whole gateway: HTTPS, keys in a real PostgreSQL, and an issuer."""

from __future__ import annotations

import hashlib
import json
import shutil
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import psycopg
import pytest

from service.tracing import TraceContext
from tests.collector import Collector, collector
from tests.fakes.oidc_issuer import AUDIENCE, CLIENT_ID, CLIENT_SECRET, OidcIssuer, oidc_issuer
from tests.integration.running import RunningGateway, run_sluice
from tests.integration.servers import Postgres, postgres
from tests.integration.tls import Authority
from tests.polling import until

pytestmark = pytest.mark.integration

TOKEN = "token-of-tess-8f2a"
TTL_S = 2
CONSOLE = "https://sluice.example"


@dataclass(frozen=True, slots=True)
class House:
    running: RunningGateway
    settings: dict[str, str]
    folder: Path
    authority: Authority
    issuer: OidcIssuer
    store: Postgres
    trusted: ssl.SSLContext
    traces: Collector

    def sluice(self, *words: str) -> str:
        """Runs a command, and returns its output."""
        ended = run_sluice(words[0], self.folder / "cli", self.settings, *words[1:])
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    @contextmanager
    def client(self, text: str | None = None, own: Path | None = None) -> Iterator[httpx.Client]:
        """Opens a client with a bearer token or a certificate."""
        trusted = self.trusted
        if own is not None:
            trusted = ssl.create_default_context(cafile=self.authority.ca)
            trusted.load_cert_chain(own)
        headers = {} if text is None else {"Authorization": f"Bearer {text}"}
        with httpx.Client(
            base_url=self.running.url, headers=headers, verify=trusted, timeout=90, trust_env=False
        ) as client:
            yield client

    def status(self, text: str) -> int:
        with self.client(text) as client:
            return client.get("/query").status_code


@pytest.fixture(scope="module")
def house(folder: Path) -> Iterator[House]:
    folder = folder / "authentication"
    authority = Authority(folder / "authority")
    certificate = folder / "server.pem"
    shutil.copy(authority.certificate("127.0.0.1"), certificate)
    trusted = ssl.create_default_context(cafile=authority.ca)

    class Secure(RunningGateway):
        def _verify(self) -> ssl.SSLContext:
            return trusted

    with ExitStack() as stack:
        store = stack.enter_context(postgres(folder / "store", "metrics"))
        issuer = stack.enter_context(oidc_issuer())
        traces = stack.enter_context(collector())
        settings = {
            "SLUICE_TRACES_ENDPOINT": traces.url,
            "SLUICE_TRACES_SQL": "true",
            "SLUICE_AUDIT_STATEMENT_TEXT": "true",
            "SLUICE_METRICS_STORE_URL": store.url("metrics"),
            "SLUICE_API_TOKENS": json.dumps({"tess": hashlib.sha256(TOKEN.encode()).hexdigest()}),
            "SLUICE_API_KEYS": "true",
            "SLUICE_API_KEY_CACHE_TTL_S": str(TTL_S),
            "SLUICE_AUTH_FAILURES_PER_MINUTE": "1000",
            "SLUICE_OIDC_ISSUERS": json.dumps({"corp": {"issuer": issuer.url, "audiences": [AUDIENCE]}}),
            "SLUICE_CONSOLE_LOGINS": json.dumps({"corp": {"client_id": CLIENT_ID}}),
            "SLUICE_CONSOLE_LOGIN_SECRETS": json.dumps({"corp": CLIENT_SECRET}),
            "SLUICE_CONSOLE_URL": CONSOLE,
            "SLUICE_OIDC_FETCH_TIMEOUT_S": "60",
            "SLUICE_TLS_CERTIFICATE_FILE": str(certificate),
            "SLUICE_TLS_KEY_FILE": str(certificate),
            "SLUICE_TLS_CLIENT_CERTIFICATES": "optional",
            "SLUICE_TLS_CLIENT_CA_FILE": str(authority.ca),
            "SLUICE_SPARK_MASTER": "local[2]",
            "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        }
        migrated = run_sluice("migrate", folder / "cli", settings)
        assert migrated.returncode == 0, migrated.stderr
        running = Secure.start(folder / "data", settings)
        stack.callback(running.stop)
        yield House(running, settings, folder, authority, issuer, store, trusted, traces)


def test_every_way_to_say_who_calls_names_a_caller_of_its_own(house: House) -> None:
    own = house.authority.client("loader")
    key = house.sluice("keys", "create", "reports", "--role", "reader", "--description", "weekly")
    ways: list[tuple[str | None, Path | None]] = [
        (TOKEN, None),
        (key, None),
        (house.issuer.token(), None),
        (None, own),
    ]
    for text, certificate in ways:
        with house.client(text, certificate) as client:
            answer = client.post("/query", json={"sql": "SELECT 1 AS one"})
            assert (answer.status_code, answer.json()["result"]["rows"]) == (200, [[1]])
            # Its record follows its answer.
            listed = until(partial(_queries, client))
            assert [query["queryId"] for query in listed] == [answer.json()["queryId"]]
    with house.client() as client:
        assert client.get("/query").status_code == 401
        assert client.get("/livez").status_code == 200
    callers = {caller for (caller,) in house.store.read("metrics", "SELECT DISTINCT caller FROM queries")}
    assert callers <= {"tess", "reports", "corp:ada", "certificate:loader"}
    assert callers


def _queries(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/query").json()["queries"]
    return found


def test_a_key_that_another_process_revokes_is_refused_within_seconds(house: House) -> None:
    key = house.sluice("keys", "create", "short", "--expires-in-days", "0")
    key_id = key.split("_")[1]
    assert house.status(key) == 200
    house.sluice("keys", "revoke", key_id)
    until(lambda: house.status(key) == 401, TTL_S + 20)
    [shown] = [load for load in json.loads(house.sluice("keys", "list", "--json")) if load["keyId"] == key_id]
    assert shown["revokedAt"] is not None
    assert shown["expiresAt"] is None
    assert "secret" not in json.dumps(shown)
    assert key_id in house.sluice("keys", "list")


def test_the_last_use_of_a_key_is_written(house: House) -> None:
    key = house.sluice("keys", "create", "used")
    assert house.status(key) == 200
    query = "SELECT last_used_at FROM api_keys WHERE key_id = %s"
    until(lambda: house.store.read("metrics", query, key.split("_")[1]) != [(None,)], 90)


def test_administrators_manage_keys_by_http(house: House) -> None:
    admin = house.sluice("keys", "create", "ops", "--role", "admin")
    with house.client(admin) as client:
        made = client.post("/keys", json={"principal": "made by http", "expiresInDays": None})
        assert made.status_code == 201
        key = made.json()["key"]
        assert house.status(key) == 200
        assert made.json()["keyId"] in client.get("/keys").text
        assert client.delete(f"/keys/{made.json()['keyId']}").status_code == 200
        assert house.status(key) == 401
    with house.client(TOKEN) as client:
        assert client.get("/keys").status_code == 403


def test_a_renewed_certificate_is_served_without_a_restart(house: House) -> None:
    def presented() -> str:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        url = httpx.URL(house.running.url)
        return ssl.get_server_certificate((url.host, url.port or 0))

    before = presented()
    shutil.copy(house.authority.certificate("127.0.0.1"), house.folder / "renewed.pem")
    (house.folder / "renewed.pem").rename(house.settings["SLUICE_TLS_CERTIFICATE_FILE"])
    until(lambda: presented() != before)
    assert house.status(TOKEN) == 200


def test_known_keys_outlast_the_store_and_unknown_ones_are_rejected(house: House) -> None:
    known = house.sluice("keys", "create", "outlasting")
    unseen = house.sluice("keys", "create", "unseen")

    def answer(text: str) -> int:
        with house.client(text) as client:
            return client.get("/tables").status_code

    assert answer(known) == 200
    house.store.stop()
    try:
        until(lambda: answer(unseen) == 503)
        assert answer(known) == 200
    finally:
        house.store.start()
    until(lambda: answer(unseen) == 200, 60)


def test_the_audit_log_has_who_did_what_from_where(house: House) -> None:
    admin = house.sluice("keys", "create", "auditor", "--role", "admin")
    with house.client(admin) as client:
        answer = client.post("/query", json={"sql": "SELECT 41 + 1"})
        query_id = answer.json()["queryId"]
        client.post("/query", json={"sql": "DROP TABLE lake.a.t"})
        client.post("/ingest", json={"table": "lake.a.nowhere", "records": [{"note": "unlike any name"}]})

        def events() -> list[dict[str, Any]]:
            answer = client.get("/audit", params={"limit": 10_000, "principal": "auditor"})
            assert "unlike any name" not in answer.text
            found = [json.loads(line) for line in answer.text.splitlines()]
            return [event for event in found if event["action"] in ("QUERY", "INGEST")]

        done, refused, written = until(lambda: found if len(found := events()) == 3 else [])
        assert (done["queryId"], done["outcome"], done["rowCount"]) == (query_id, "SUCCEEDED", 1)
        assert (done["principalKind"], done["keyId"]) == ("key", admin.split("_")[1])
        assert (done["address"], done["requestId"]) == ("127.0.0.1", answer.headers["x-request-id"])
        assert done["statement"] == "SELECT 41 + 1"
        assert (refused["outcome"], refused["errorCode"]) == ("REFUSED", "SQL_WRITES_OFF")
        assert (written["outcome"], written["tables"]) == ("REFUSED", ["lake.a.nowhere"])
        assert client.get("/metrics").text.count("sluice_audit_events_dropped_total 0.0") == 1
    with house.client(TOKEN) as client:
        assert client.get("/audit").status_code == 403
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        house.store.read("metrics", "DELETE FROM audit_events RETURNING 1")


def test_a_user_logs_in_at_the_issuer_and_no_secret_is_left(house: House) -> None:
    own = {"X-Sluice-Console": "1", "Sec-Fetch-Site": "same-origin", "Origin": CONSOLE}
    trace = TraceContext(token_hex(16), token_hex(8), is_sampled=True)
    with house.client() as client:
        begun = client.post("/console/login/corp", headers=own)
        assert begun.status_code == 200, begun.text
        kept = client.cookies["__Host-sluice_login"]
        back = httpx.get(begun.json()["address"]).headers["location"]
        assert back.startswith(f"{CONSOLE}/console/login/corp/callback?")
        led = {"Accept": "text/html", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        led["traceparent"] = trace.traceparent
        answer = client.get(back.removeprefix(CONSOLE), headers=led)
        assert (answer.status_code, answer.headers["location"]) == (303, "/console#/back")
        session = client.cookies["__Host-sluice_session"]
        assert client.get("/console/session").json()["principal"] == "corp:ada"
        asked = client.post("/query", json={"sql": "SELECT 1 AS one"}, headers=own)
        assert asked.json()["result"]["rows"] == [[1]]
        stored = house.store.read("metrics", "SELECT * FROM issuer_sessions")
        assert [row[0] for row in stored] == [session.split("_")[1]]
        assert client.delete("/console/session", headers=own).status_code == 204
        again = client.get("/console/session", headers={"Cookie": f"__Host-sluice_session={session}"})
        assert (again.status_code, again.json()["code"]) == (401, "KEY_SESSION_ENDED")
    assert house.store.read("metrics", "SELECT * FROM issuer_sessions") == []
    until(lambda: trace.trace_id in {span.trace_id for span in house.traces.spans})
    written = [house.running.log_path.read_text(), house.sluice("config"), house.sluice("audit", "export")]
    assert "LOGIN" in written[-1]
    written += [str(stored), *(span.text for span in house.traces.spans)]
    [code] = parse_qs(urlsplit(back).query)["code"]
    verifier = house.issuer.flow.redeemed[-1]["code_verifier"]
    for secret in (
        code,
        kept,
        kept.split(".")[2],
        session,
        session.split("_", 2)[2],
        verifier,
        CLIENT_SECRET,
    ):
        for text in written:
            assert secret not in text


def test_no_secret_is_anywhere(house: House) -> None:
    admin = house.sluice("keys", "create", "ops", "--role", "admin")
    with house.client(admin) as client:
        key = client.post("/keys", json={"principal": "secretive"}).json()["key"]
    tampered = key[:-6] + "AAAAAA"
    good, stale = house.issuer.token(), house.issuer.token(exp=1)
    sent = [TOKEN, admin, key, tampered, good, stale, "guess-at-a-token-77aa"]
    shown: list[str] = []
    traces = [TraceContext(token_hex(16), token_hex(8), is_sampled=True) for _ in sent]
    for text, trace in zip(sent, traces, strict=True):
        with house.client(text) as client:
            traced = {"traceparent": trace.traceparent}
            answer = client.post("/query", json={"sql": "SELECT 1 AS one, nowhere"}, headers=traced)
            shown.append(str(answer.headers))
            if answer.status_code == 401:
                shown.append(answer.text)
            shown.append(client.get(f"/ingest/{'0' * 8}").text)
    with house.client(TOKEN) as client:
        shown += [client.get("/metrics").text, client.get("/readyz").text, client.get("/openapi.json").text]
        asked = client.post("/query", json={"sql": "SELECT 1"}).json()["queryId"]
        shown += [client.get(f"/explain/{asked}").text, client.get("/query?limit=1").text]
    shown += [house.sluice("config"), house.sluice("keys", "list", "--json"), house.sluice("keys", "list")]
    shown.append(house.sluice("audit", "export"))
    secrets = [*sent, *(text.split("_", 2)[2] for text in (key, tampered)), house.store.password]
    stored = str(house.store.read("metrics", "SELECT * FROM api_keys"))
    log = house.running.log_path.read_text()
    events = [line for line in house.running.log_lines() if line["event"] == "authentication_failed"]
    assert {"api_key_created", "authentication_failed"} <= {
        line["event"] for line in house.running.log_lines()
    }
    assert {event["reason"] for event in events} >= {"wrong", "expired", "unknown"}
    until(lambda: {span.trace_id for span in house.traces.spans} >= {trace.trace_id for trace in traces})
    spans = [span.text for span in house.traces.spans]
    for secret in secrets:
        for text in (*shown, stored, log, *spans):
            assert secret not in text
