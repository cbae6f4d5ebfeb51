"""The check of the files for TLS, by `sluice check` and `sluice doctor`."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.bootstrap.settings import Settings
from api.cli.doctor.certificates import certificates
from api.cli.part_checks import Finding, State, tried
from api.cli.wiring_checks import machine_checks
from api.http.tls.certificate_files import CertificateFiles
from tests.integration.tls import Authority

HOST = "127.0.0.1"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def of_tls(**given: object) -> list[Finding]:
    """Returns what the checks of this machine find of TLS."""
    settings = Settings.model_validate({"port": 0} | given)
    return list(tried(check for check in machine_checks(settings) if check.part == "TLS"))


@pytest.mark.parametrize(
    ("after", "state", "part_of_text"),
    [
        (timedelta(hours=-2), State.FAILED, "It is not valid yet."),
        (timedelta(0), State.OK, "valid from 20"),
        (timedelta(hours=18), State.OK, "until 20"),
        (timedelta(hours=20), State.WARNING, "until 20"),
        (timedelta(hours=25), State.FAILED, "It has expired."),
    ],
)
def test_a_certificate_is_judged_by_its_dates(
    authority: Authority, after: timedelta, state: State, part_of_text: str
) -> None:
    path = authority.certificate(HOST)
    found = certificates(CertificateFiles(path, path), datetime.now(UTC) + after)
    assert (found.state, bool(found.cure)) == (state, state is not State.OK)
    assert part_of_text in found.text


def test_authorities_of_clients_are_counted_and_expired_ones_named(tmp_path: Path) -> None:
    first, second = Authority(tmp_path / "a", "first"), Authority(tmp_path / "b", "second", days=-0.01)
    path, both = first.certificate(HOST), tmp_path / "both.pem"
    both.write_bytes(first.ca.read_bytes() + second.ca.read_bytes())
    one = certificates(CertificateFiles(path, path, first.ca), datetime.now(UTC))
    assert (one.state, "1 authority" in one.text) == (State.OK, True)
    found = certificates(CertificateFiles(path, path, both), datetime.now(UTC))
    assert (found.state, "2 authorities" in found.text) == (State.WARNING, True)
    assert "1 of them expired" in found.text
    assert "tls_client_ca_file" in found.cure


def test_files_that_do_not_belong_together_fail_with_the_settings_names(
    authority: Authority, tmp_path: Path
) -> None:
    good, key = authority.certificate(HOST), tmp_path / "tls.key"
    shutil.copy(authority.certificate("other.example"), key)
    [found] = of_tls(tls_certificate_file=good, tls_key_file=good)
    assert found.state is State.OK
    for other in (key, tmp_path / "missing.pem"):
        [found] = of_tls(tls_certificate_file=good, tls_key_file=other)
        assert found.state is State.FAILED
        assert "check tls_certificate_file and tls_key_file" in found.text
    [found] = of_tls(
        tls_certificate_file=good,
        tls_key_file=good,
        tls_client_certificates="optional",
        tls_client_ca_file=tmp_path / "missing.pem",
    )
    assert (found.state, "tls_client_ca_file" in found.text) == (State.FAILED, True)


def test_without_tls_there_is_no_such_check() -> None:
    assert of_tls() == []
