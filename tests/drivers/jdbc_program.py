"""Runs `JdbcSteps.java` with a driver, and reads what it printed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark
from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate, serialize_java_truststore

from spark_session.jars.jars import resolve
from tests.engine_jars import JARS

PROGRAM = Path(__file__).with_name("JdbcSteps.java")
SPARKS_JARS = Path(pyspark.__file__).parent / "jars"
FLIGHT_DRIVER = "org.apache.arrow:flight-sql-jdbc-driver:18.3.0"
HIVE_DRIVER = "org.apache.hive:hive-jdbc:4.0.1:standalone"
STORE_PASSWORD = "of-the-store"
OPTIONS = (
    # The driver of Flight needs it.
    "--add-opens=java.base/java.nio=org.apache.arrow.memory.core,ALL-UNNAMED",
    "-Dfile.encoding=UTF-8",
    "-Xmx512m",
)
TOKYO = "Asia/Tokyo"
"""Not the zone of the gateway: local times must not move."""
UTC = "UTC"
"""For the driver of Flight, which moves local times by the zone of its JVM (apache/arrow-java, issue 732)."""
WITHIN_S = 600
_LINE = re.compile(r"^(OK|FAILED) ([^|]*) \| (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Seen:
    """The steps that were done and those that failed, each with its line, and all that was printed."""

    done: Mapping[str, str]
    failed: Mapping[str, str]
    output: str

    def check(self, done: Mapping[str, str], failed: Mapping[str, str]) -> None:
        """Checks that these steps were done and failed, and that these texts are in what they saw."""
        wrong = [
            f"{name}: {text!r} is not in {found.get(name, 'nothing')!r}"
            for expected, found in ((done, self.done), (failed, self.failed))
            for name, text in expected.items()
            if text not in found.get(name, "\0")
        ]
        assert not wrong, "\n".join([*wrong, self.output])
        assert "Traceback" not in self.output


def flight_driver() -> Sequence[Path]:
    """Returns the driver of Arrow Flight SQL."""
    return resolve([FLIGHT_DRIVER], JARS)


def hive_driver() -> Sequence[Path]:
    """Returns a recent driver of Hive, which brings all that it needs."""
    return resolve([HIVE_DRIVER], JARS, with_dependencies=False)


def sparks_hive_driver() -> Sequence[Path]:
    """Returns the driver of Hive that Spark brings, and with it all of Spark."""
    return [SPARKS_JARS / "*"]


def run_steps(
    driver: Sequence[Path], url: str, name: str, password: str, steps: str = "", *, zone: str = TOKYO
) -> Seen:
    """Runs all steps, or only those that are named, or after a minus all others; returns what they saw."""
    classes = ":".join(map(str, driver))
    command = [
        "java",
        *OPTIONS,
        f"-Duser.timezone={zone}",
        "-cp",
        classes,
        str(PROGRAM),
        url,
        name,
        password,
        steps,
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    found = _LINE.findall(ran.stdout)
    done = {step: text for outcome, step, text in found if outcome == "OK"}
    failed = {step: text for outcome, step, text in found if outcome == "FAILED"}
    return Seen(done, failed, f"{ran.stdout}\n{ran.stderr[-4_000:]}")


def trust_store(authority: Path, folder: Path) -> Path:
    """Writes the certificate of an authority as Java trusts it, and returns the file."""
    certificate = x509.load_pem_x509_certificate(authority.read_bytes())
    written = folder / f"{authority.stem}.p12"
    written.write_bytes(
        serialize_java_truststore(
            [PKCS12Certificate(certificate, b"authority")], BestAvailableEncryption(STORE_PASSWORD.encode())
        )
    )
    return written
