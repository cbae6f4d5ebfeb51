"""The JVM behind the session: launching it, and forgetting it once it is dead."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from service.errors.gateway_error import CannotStart
from spark_session.settings.settings import SOCKET_WITHIN_S, launch_properties

# Nothing answers; the last ones come from PySpark, when another thread made it forget a lost context.
UNREACHABLE = (Py4JError, OSError, EOFError, AssertionError, AttributeError, TypeError)


class Jvm:
    """One launched JVM. `process` is the JVM itself: the launch script replaces itself by it."""

    def __init__(self, gateway: JavaGateway) -> None:
        self.gateway = gateway
        self.process: Popen[bytes] = gateway.proc

    def spark_version(self) -> str:
        """Returns the version of its Spark, which SPARK_HOME may make different from PySpark's."""
        return str(self.gateway.jvm.org.apache.spark.package.SPARK_VERSION())

    def is_alive(self) -> bool:
        """Whether the process exists; asks the operating system, not the JVM."""
        return self.process.poll() is None

    def is_dead_within(self, seconds: float) -> bool:
        """Whether the process ends within the time: a socket breaks a moment before the process is gone."""
        with contextlib.suppress(TimeoutExpired):
            self.process.wait(seconds)
        return not self.is_alive()

    def kill(self) -> None:
        """Ends the process, whatever it does."""
        self.process.kill()
        with contextlib.suppress(TimeoutExpired):
            self.process.wait(10)
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()


def launch(properties: Mapping[str, str], log_dir: Path) -> Jvm:
    """Starts a JVM with Spark in it.

    Raises:
        CannotStart: it ended before it could be reached; the log says why.
    """
    forget_lost_context()
    log_dir.mkdir(parents=True, exist_ok=True)
    # Without it, each thread of the JVM comes to hold a part of the memory that others freed (glibc's
    # arenas).
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    # As long as the JVM waits for PySpark on a socket that it serves a result on.
    os.environ.setdefault("SPARK_AUTH_SOCKET_TIMEOUT", str(SOCKET_WITHIN_S))
    conf = SparkConf(loadDefaults=False).setAll(list(launch_properties(properties).items()))
    log_file = log_dir / "jvm.log"
    with log_file.open("ab") as log:
        try:
            return Jvm(launch_gateway(conf, popen_kwargs={"stdout": log, "stderr": log}))
        except (PySparkException, Py4JError, OSError) as failure:
            raise CannotStart(f"Spark's JVM did not start ({failure}); {log_file} says why.") from failure


def forget_lost_context() -> None:
    """Makes PySpark forget a context whose JVM is dead, so that the process can start a new one.

    PySpark keeps the one context of a process in class attributes and offers no way to drop a dead one:
    `stop()` would talk to the JVM that is gone.
    """
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkSession._instantiatedSession = None
    SparkSession._activeSession = None
    for variable in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        os.environ.pop(variable, None)
