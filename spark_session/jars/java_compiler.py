"""Compiles Java with Eclipse's compiler: it is one jar, and needs no JDK."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

from service.errors.gateway_error import CannotStart
from spark_session.jars.jars import check_java

COMPILER = MappingProxyType(
    {"org.eclipse.jdt:ecj:3.43.0": "c786468c65e906498e7e36ece4e0d04c6d3dd34c9a61b34a3a5b512801911a82"}
)
TIMEOUT_S = 300
OPTIONS = ("-source", "17", "-target", "17", "-encoding", "UTF-8", "-proc:none", "-g", "-nowarn")
_JAVA_OPTIONS = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
# An operator sets these for the driver. Its heap and its garbage collector would contradict ours, and a
# contradiction ends a JVM.
_OF_THE_DRIVER = frozenset({"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"})


def compile_java(
    compiler: Path,
    sources: Path,
    class_path: Sequence[Path],
    into: Path,
    *,
    options: Sequence[str] = OPTIONS,
) -> None:
    """Compiles all sources below a folder into a folder of classes.

    Raises:
        CannotStart: there is no supported Java, or the sources do not fit the class path.
    """
    command = [
        *(str(check_java()), *_JAVA_OPTIONS, "-jar", str(compiler), *options),
        *("-classpath", ":".join(map(str, class_path)), "-d", str(into), str(sources)),
    ]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env=_environment()
        )
    except subprocess.TimeoutExpired as error:
        raise CannotStart(
            f"The Java classes of the gateway were not compiled within {TIMEOUT_S} s."
        ) from error
    if ended.returncode != 0:
        raise CannotStart(
            "The Java classes of the gateway cannot be compiled against the jars of Spark and Iceberg:"
            f" {_first_fault(ended.stdout + ended.stderr)}. Use the versions that this release pins."
        )


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _OF_THE_DRIVER}


def _first_fault(output: str) -> str:
    r"""Returns the first error of the compiler in one line.

    >>> _first_fault("----\n1. ERROR in A.java (at line 3)\n\tb();\n\t^\nThe method b() is undefined\n----")
    'ERROR in A.java (at line 3): The method b() is undefined'
    """
    found = re.search(r"\d+\. (ERROR in [^\n]*)\n[^\n]*\n[^\n]*\^[^\n]*\n([^\n]*)", output)
    if found is not None:
        return f"{found[1]}: {found[2]}"
    lines = output.strip().splitlines()
    return lines[-1] if lines else "the compiler says nothing"
