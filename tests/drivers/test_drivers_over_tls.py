"""Each driver connects over TLS, and trusts the authority that it was given alone: `make drivers-test`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import adbc_driver_flightsql.dbapi as adbc
import pytest
from adbc_driver_flightsql import DatabaseOptions
from impala.dbapi import connect as impala_connect
from pyhive import hive as pyhive
from thrift.transport.TSSLSocket import TSSLSocket
from thrift_sasl import TSaslClientTransport

from tests.drivers.conftest import HOST, NAME, PASSWORD, Secure
from tests.drivers.expected_steps import FLIGHT, FLIGHT_REFUSED, HIVE, HIVE_REFUSED
from tests.drivers.jdbc_program import (
    SPARKS_JARS,
    STORE_PASSWORD,
    TOKYO,
    UTC,
    Seen,
    flight_driver,
    hive_driver,
    run_steps,
    sparks_hive_driver,
    trust_store,
)

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]
SALES = [(1180,)]
COUNT = "SELECT count(*) FROM shop.sales"
# impyla hides the reason: on the port behind a sentence, and over HTTP behind a fault of its own.
REFUSED = r"(?i)certificate|ssl|authority|could not connect|object has no attribute 'close'"
Connect = Callable[[Secure, Path], Any]


def by_impyla(secure: Secure, authority: Path) -> Any:
    return impala_connect(
        host=HOST,
        port=secure.hive_port,
        auth_mechanism="PLAIN",
        user=NAME,
        password=PASSWORD,
        use_ssl=True,
        ca_cert=str(authority),
    )


def by_impyla_http(secure: Secure, authority: Path) -> Any:
    return impala_connect(
        host=HOST,
        port=secure.http_port,
        auth_mechanism="PLAIN",
        user=NAME,
        password=PASSWORD,
        use_ssl=True,
        ca_cert=str(authority),
        use_http_transport=True,
        http_path="cliservice",
    )


def by_pyhive(secure: Secure, authority: Path) -> Any:
    socket = TSSLSocket(HOST, secure.hive_port, ca_certs=str(authority))

    def sasl() -> Any:
        return pyhive.get_installed_sasl(HOST, "PLAIN", username=NAME, password=PASSWORD)

    return pyhive.connect(thrift_transport=TSaslClientTransport(sasl, "PLAIN", socket))


def by_pyhive_http(secure: Secure, authority: Path) -> Any:
    # It takes the system's authorities, which this variable of OpenSSL names.
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SSL_CERT_FILE", str(authority))
        return pyhive.connect(
            HOST,
            secure.http_port,
            scheme="https",
            username=NAME,
            password=PASSWORD,
            check_hostname="true",
            ssl_cert="required",
        )


def by_adbc(secure: Secure, authority: Path) -> Any:
    options = {
        "username": NAME,
        "password": PASSWORD,
        DatabaseOptions.TLS_ROOT_CERTS.value: authority.read_text(),
    }
    return adbc.connect(f"grpc+tls://{HOST}:{secure.flight_port}", db_kwargs=options, autocommit=True)


PYTHON: Mapping[str, Connect] = {
    "impyla": by_impyla,
    "impyla over http": by_impyla_http,
    "pyhive": by_pyhive,
    "pyhive over http": by_pyhive_http,
    "adbc": by_adbc,
}


def counted(secure: Secure, connect: Connect, authority: Path) -> list[Any]:
    with closing(connect(secure, authority)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(COUNT)
        return [tuple(row) for row in cursor.fetchall()]


@pytest.mark.parametrize("driver", PYTHON)
def test_a_driver_of_python_connects(secure: Secure, driver: str) -> None:
    assert counted(secure, PYTHON[driver], secure.authority) == SALES


@pytest.mark.parametrize("driver", PYTHON)
def test_a_driver_of_python_refuses_another_authority(secure: Secure, driver: str) -> None:
    with pytest.raises(Exception, match=REFUSED):
        counted(secure, PYTHON[driver], secure.other_authority)
    assert counted(secure, PYTHON[driver], secure.authority) == SALES


def url(secure: Secure, kind: str, authority: Path) -> str:
    store = trust_store(authority, secure.folder)
    trusted = f";ssl=true;sslTrustStore={store};trustStorePassword={STORE_PASSWORD}"
    match kind:
        case "flight":
            return (
                f"jdbc:arrow-flight-sql://{HOST}:{secure.flight_port}/?useEncryption=true"
                f"&useSystemTrustStore=false&tlsRootCerts={authority}"
            )
        case "http":
            path = f"{trusted};transportMode=http;httpPath=cliservice"
            return f"jdbc:hive2://{HOST}:{secure.http_port}/shop{path}"
        case _:
            return f"jdbc:hive2://{HOST}:{secure.hive_port}/shop{trusted}"


def steps(secure: Secure, kind: str, authority: Path, chosen: str = "") -> Seen:
    drivers = {"flight": flight_driver, "spark": sparks_hive_driver}
    zone = UTC if kind == "flight" else TOKYO
    driver = drivers.get(kind, hive_driver)()
    return run_steps(driver, url(secure, kind, authority), NAME, PASSWORD, chosen, zone=zone)


def test_a_program_with_the_driver_of_flight(secure: Secure) -> None:
    steps(secure, "flight", secure.authority).check(FLIGHT, FLIGHT_REFUSED)


@pytest.mark.parametrize("kind", ["port", "http"])
def test_a_program_with_a_recent_driver_of_hive(secure: Secure, kind: str) -> None:
    steps(secure, kind, secure.authority).check(HIVE, HIVE_REFUSED | {"insert": "SQL_WRITES_OFF"})


def test_sparks_driver_of_hive(secure: Secure) -> None:
    steps(secure, "spark", secure.authority, "select").check({"select": HIVE["select"]}, {})


@pytest.mark.parametrize("kind", ["flight", "port", "http"])
def test_a_program_refuses_another_authority(secure: Secure, kind: str) -> None:
    seen = steps(secure, kind, secure.other_authority, "select")
    assert set(seen.failed) == {"connect"}, seen.output
    assert not seen.done


@pytest.mark.parametrize("kind", ["port", "http"])
def test_beeline_runs_a_script(secure: Secure, kind: str, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(
        "-- Beeline leaves comments out.\nUSE shop;\nSELECT count(*) AS c,\n  'a;b' AS t FROM sales;\n"
        "!set outputformat tsv2\nSHOW TABLES IN shop_archive;\n"
    )
    options = ["--outputformat=csv2", "-n", NAME, "-p", PASSWORD, "-u", url(secure, kind, secure.authority)]
    command = ["java", "-Xmx256m", "-cp", f"{SPARKS_JARS}/*", "org.apache.hive.beeline.BeeLine", *options]
    done = subprocess.run(
        [*command, "-f", str(script)], capture_output=True, text=True, timeout=300, check=False
    )
    assert "1180,a;b" in done.stdout, done.stdout + done.stderr
    assert "shop_archive\tsales_2019\tfalse" in done.stdout
    assert done.returncode == 0
