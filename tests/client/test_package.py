"""Tests the package as it is installed: what it has, what it needs, and what it does when it is imported."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import sluice_client
from api.http.problems import http_errors
from service.errors.gateway_error import CallerError, GatewayError
from sluice_client.error_classes import BY_CODE, BY_STATUS, IN_STATE, class_of, error_of
from sluice_client.reported_problem import Problem

CLIENT = Path(sluice_client.__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr
    [path] = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_has_the_package_and_its_types_alone(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert "sluice_client/py.typed" in names
    assert "sluice_client/dbapi/cursor.py" in names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"sluice_client"}


def test_the_wheel_needs_httpx_and_pyarrow_alone(wheel: zipfile.ZipFile) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith("/METADATA")]
    needs = Parser().parsestr(wheel.read(name).decode()).get_all("Requires-Dist", [])
    assert [need for need in needs if "extra ==" not in need] == ["httpx>=0.28", "pyarrow>=22"]
    extras = {need.split("extra == ")[1].strip("'\"") for need in needs if "extra ==" in need}
    assert extras == {"pandas", "polars", "progress", "notebook", "cli", "sqlalchemy"}


def test_importing_it_imports_no_optional_library() -> None:
    script = (
        "import sys, sluice_client, sluice_client.dbapi;"
        "print(sorted({'pandas', 'polars', 'rich', 'IPython', 'service', 'api', 'numpy', 'sqlalchemy'}"
        " & set(sys.modules)))"
    )
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(CLIENT)!r}); {script}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    # Arrow imports numpy by itself where it is installed, and httpx imports rich for its command.
    assert not {"pandas", "polars", "IPython", "service", "api", "sqlalchemy"} & set(eval(ran.stdout))


def _codes() -> list[tuple[str, int]]:
    return sorted({(kind.code, int(status)) for kind, status in http_errors.STATUS.items()})


@pytest.mark.parametrize(("code", "status"), _codes(), ids=[code for code, _ in _codes()])
def test_every_error_of_the_gateway_has_a_class_that_says_what_to_do(code: str, status: int) -> None:
    kind = class_of(Problem(code=code, detail="", status=status))
    assert issubclass(kind, sluice_client.GatewayError)
    is_known = code in BY_CODE or status in BY_STATUS
    assert (kind is sluice_client.GatewayFault) == (status >= 500 and not is_known)


@pytest.mark.parametrize("code", sorted(IN_STATE))
def test_an_error_has_one_class_whether_an_answer_or_a_state_reports_it(code: str) -> None:
    [status] = {status for known, status in _codes() if known == code}
    in_answer, in_state = (class_of(Problem(code=code, detail="", status=each)) for each in (status, None))
    assert in_state is in_answer


def test_every_code_that_has_a_class_is_one_of_the_gateways() -> None:
    known = {code for code, _ in _codes()}
    assert set(BY_CODE) <= known
    assert issubclass(CallerError, GatewayError)


def test_an_error_shows_its_first_faults_and_where_to_look() -> None:
    faults = [sluice_client.Fault(f"fault {number}", line=number) for number in range(1, 8)]
    shown = str(error_of(Problem(code="RECORDS_INVALID", detail="Two.", status=422, faults=faults)))
    assert shown.splitlines()[1] == "  line 1: fault 1"
    assert shown.splitlines()[-1] == "  and 2 more in `faults`"
