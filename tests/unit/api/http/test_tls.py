"""Tests HTTPS, reloaded certificates and client certificates with real handshakes."""

from __future__ import annotations

import hashlib
import http.client
import shutil
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from api.bootstrap.settings import Settings
from api.bootstrap.settings.serving.tls import CertificateName
from api.http.app import create_app
from api.http.authentication.certificate_names import principal_of
from api.http.http_server import bind, server_of, tls_context, url_of
from api.http.tls.certificate_files import CertificateFiles
from api.http.tls.reloading_context import ReloadingContext
from service.errors.credential_errors import CertificateInvalid, CredentialFault
from service.errors.gateway_error import CannotStart
from tests.fakes.gateway import FakeGateway
from tests.integration.tls import Authority
from tests.polling import until

HOST = "127.0.0.1"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass
class Served:
    url: str
    port: int
    gateway: FakeGateway
    context: ReloadingContext
    server: uvicorn.Server
    thread: threading.Thread

    def callers(self) -> list[str]:
        return [query.record.caller for query in self.gateway.queries.by_id.values()]


@contextmanager
def served(**options: Any) -> Iterator[Served]:
    settings = Settings(**options)
    gateway = FakeGateway()
    context = tls_context(settings)
    assert context is not None
    server = server_of(settings, create_app(settings, lambda: gateway), context=context)
    with bind(HOST, 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        url = url_of(listening, settings)
        try:
            until(lambda: _is_ready(url))
            yield Served(url, listening.getsockname()[1], gateway, context, server, thread)
        finally:
            server.should_exit = True
            thread.join()


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", verify=False, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def files(path: Path, **more: Any) -> dict[str, Any]:
    return {"tls_certificate_file": path, "tls_key_file": path} | more


def trusting(authority: Authority, own: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority.ca)
    if own is not None:
        context.load_cert_chain(own)
    return context


def asked(served: Served, context: ssl.SSLContext, headers: dict[str, str] | None = None) -> httpx.Response:
    body = {"sql": "select 1"}
    with httpx.Client(verify=context, trust_env=False) as client:
        return client.post(f"{served.url}/query", json=body, headers=headers)


def presented(port: int) -> bytes:
    """Returns the certificate that the server presents to a new connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((HOST, port)) as plain, context.wrap_socket(plain) as connection:
        return connection.getpeercert(binary_form=True) or b""


def test_https_alone_is_served_from_tls_1_2_on(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with served(**files(authority.certificate(HOST))) as running:
        assert running.url.startswith("https://")
        assert asked(running, trusting(authority)).status_code == 200
        with pytest.raises(httpx.TransportError):
            httpx.get(running.url.replace("https", "http") + "/readyz", trust_env=False)
        old = trusting(authority)
        old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        old.set_ciphers("DEFAULT@SECLEVEL=0")
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises(httpx.ConnectError):
            asked(running, old)


def test_new_certificates_are_taken_without_a_restart_and_open_connections_go_on(tmp_path: Path) -> None:
    before, after = Authority(tmp_path / "before"), Authority(tmp_path / "after")
    path, new = tmp_path / "server.pem", tmp_path / "new.pem"
    shutil.copy(before.certificate(HOST), path)
    with served(**files(path)) as running, ExitStack() as stack:
        opened = http.client.HTTPSConnection(HOST, running.port, context=trusting(before))
        stack.callback(opened.close)
        opened.request("GET", "/livez")
        assert opened.getresponse().read()
        still = opened.sock
        old = presented(running.port)
        shutil.copy(after.certificate(HOST), new)
        new.rename(path)
        until(lambda: presented(running.port) != old)
        assert asked(running, trusting(after)).status_code == 200
        with pytest.raises(httpx.ConnectError):
            asked(running, trusting(before))
        opened.request("GET", "/livez")
        assert opened.getresponse().status == 200
        assert opened.sock is still


class Time:
    now_s = 0.0


@pytest.fixture
def moment() -> Time:
    return Time()


def test_files_that_do_not_fit_change_nothing_until_they_do(tmp_path: Path, moment: Time) -> None:
    authority = Authority(tmp_path)
    good, other = authority.certificate(HOST), authority.certificate("other.example")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    shutil.copy(good, certificate)
    shutil.copy(good, key)
    context = ReloadingContext(CertificateFiles(certificate, key), lambda: moment.now_s)
    first = context.validity
    assert first is not None
    served_by = context._current

    def look() -> None:
        moment.now_s += 1
        context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_side=True)

    shutil.copy(other, certificate)
    look()
    look()
    assert (context._current is served_by, context.failures) == (True, 1)
    key.unlink()
    look()
    assert (context._current is served_by, context.failures) == (True, 2)
    shutil.copy(other, key)
    look()
    assert context._current is not served_by
    served_by = context._current
    look()
    assert (context._current is served_by, context.failures) == (True, 2)


def test_files_that_change_while_they_are_read_are_read_again(tmp_path: Path, moment: Time) -> None:
    authority = Authority(tmp_path)
    path = tmp_path / "tls.pem"
    shutil.copy(authority.certificate(HOST), path)
    new = authority.certificate("other.example")

    class Changing(CertificateFiles):
        def context(self) -> ssl.SSLContext:
            made = super().context()
            shutil.copy(new, path)
            return made

    context = ReloadingContext(Changing(path, path), lambda: moment.now_s)
    served_by = context._current
    context.look()
    assert context._current is not served_by


def test_files_that_cannot_be_used_keep_the_gateway_from_starting(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    good = authority.certificate(HOST)
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    locked = tmp_path / "locked.pem"
    locked.write_bytes(
        ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    wrong: list[Callable[[], CertificateFiles]] = [
        lambda: CertificateFiles(tmp_path / "missing.pem", good),
        lambda: CertificateFiles(good, empty),
        lambda: CertificateFiles(good, locked),
        lambda: CertificateFiles(good, authority.certificate("other.example")),
        lambda: CertificateFiles(good, good, empty),
    ]
    for files_of in wrong:
        with pytest.raises(CannotStart, match="tls_"):
            ReloadingContext(files_of())


def test_a_client_certificate_names_its_caller(tmp_path: Path) -> None:
    authority, stranger = Authority(tmp_path / "a"), Authority(tmp_path / "b")
    given = files(
        authority.certificate(HOST), tls_client_certificates="optional", tls_client_ca_file=authority.ca
    )
    loader = authority.client("loader")
    with served(**given) as running:
        assert asked(running, trusting(authority, loader)).status_code == 200
        assert running.callers() == ["certificate:loader"]
        without = asked(running, trusting(authority))
        assert (without.status_code, without.json()["code"]) == (401, "UNAUTHENTICATED")
        nameless = asked(running, trusting(authority, authority.client()))
        assert (nameless.status_code, nameless.json()["code"]) == (401, "CERTIFICATE_INVALID")
        with pytest.raises(httpx.TransportError):
            asked(running, trusting(authority, stranger.client("loader")))
        # A token counts before a certificate, even a wrong one.
        wrong = asked(running, trusting(authority, loader), {"Authorization": "Bearer wrong"})
        assert wrong.status_code == 401
    assert running.callers() == ["certificate:loader"]


def test_where_a_client_certificate_is_required_all_but_the_probes_need_one(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    token = "a-token-of-the-setting"
    given = files(
        authority.certificate(HOST),
        tls_client_certificates="required",
        tls_client_ca_file=authority.ca,
        tls_principal="uri",
        tls_principal_prefix="",
        api_tokens={"tess": _sha256(token)},
    )
    name = x509.UniformResourceIdentifier("spiffe://shop.example/loader")
    own = authority.client("loader", names=[name])
    sent = {"Authorization": f"Bearer {token}"}
    with served(**given) as running:
        missing = asked(running, trusting(authority), sent)
        assert (missing.status_code, missing.json()["code"]) == (401, "CERTIFICATE_INVALID")
        assert asked(running, trusting(authority, own)).status_code == 200
        assert asked(running, trusting(authority, own), sent).status_code == 200
        assert running.callers() == ["spiffe://shop.example/loader", "tess"]
        assert _is_ready(running.url)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("certificate", "kind"),
    [
        ({}, CertificateName.CN),
        ({"subject": ((("commonName", "a"),), (("commonName", "b"),))}, CertificateName.CN),
        ({"subject": ((("commonName", "anonymous"),),)}, CertificateName.CN),
        ({"subject": ((("commonName", "a\nb"),),)}, CertificateName.CN),
        ({"subjectAltName": (("DNS", "a"), ("DNS", "b"))}, CertificateName.DNS),
        ({"subjectAltName": (("DNS", "a"),)}, CertificateName.URI),
    ],
)
def test_a_certificate_with_no_name_or_several_names_nobody(
    certificate: dict[str, Any], kind: CertificateName
) -> None:
    with pytest.raises(CertificateInvalid):
        principal_of(certificate, kind, "", NOON)


def test_a_certificate_that_has_ended_is_refused_on_a_connection_that_stays_open() -> None:
    certificate = {
        "subject": ((("commonName", "loader"),),),
        "notAfter": "Jan  1 12:00:00 2026 GMT",
    }
    before = NOON - timedelta(seconds=1)
    assert principal_of(certificate, CertificateName.CN, "", before).name == "loader"
    with pytest.raises(CertificateInvalid) as caught:
        principal_of(certificate, CertificateName.CN, "", NOON)
    assert caught.value.reason is CredentialFault.EXPIRED


def test_whoever_does_not_shake_hands_is_not_waited_for(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with (
        served(**files(authority.certificate(HOST), header_timeout_s=1)) as running,
        socket.create_connection((HOST, running.port)) as silent,
    ):
        silent.settimeout(20)
        began_s = time.monotonic()
        assert silent.recv(1) == b""
        # The event loop's own bound is a minute.
        assert time.monotonic() - began_s < 20


def test_silent_clients_make_room_for_those_who_shake_hands(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    given = files(
        authority.certificate(HOST), header_timeout_s=600, max_connections=16, max_connections_per_peer=16
    )
    with served(**given) as running, ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection((HOST, running.port))) for _ in range(100)]
        for connection in silent[:84]:
            connection.settimeout(60)
            assert connection.recv(1) == b""
        silent[-1].settimeout(0.1)
        with pytest.raises(TimeoutError):
            silent[-1].recv(1)
        assert asked(running, trusting(authority)).status_code == 200


def test_a_handshake_and_its_connection_count_once(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with served(**files(authority.certificate(HOST), max_connections_per_peer=1)) as running:
        assert asked(running, trusting(authority)).status_code == 200


def test_a_stop_does_not_wait_for_whoever_connects_last_and_stays_silent(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with served(**files(authority.certificate(HOST), header_timeout_s=1)) as running, ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(socket.create_connection((HOST, running.port)))
        began_s = time.monotonic()
        running.server.should_exit = True
        running.thread.join()
        assert time.monotonic() - began_s < 20


def test_numbers_of_tls_are_shown(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with served(**files(authority.certificate(HOST))) as running:
        text = httpx.get(f"{running.url}/metrics", verify=trusting(authority), trust_env=False).text
    begins_s, expires_s = (
        float(line.split()[1]) for line in text.splitlines() if line.startswith("sluice_tls_certificate_")
    )
    assert begins_s < time.time() < expires_s
    assert "sluice_tls_reload_failures_total 0.0" in text
