"""Callers that may send SQL can read tables by name, and nothing else."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import post, problem, rows
from tests.integration.guarded import MAX_SQL_BYTES, TOKENS, Guarded
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("sql", "status", "code"),
    [
        ("SELECT reflect('java.lang.System', 'getenv', 'PATH')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT java_method('java.lang.System', 'exit', 1)", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT try_reflect('java.lang.System', 'getenv', 'PATH')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT builtin.reflect('java.lang.System', 'getenv', 'PATH')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT system.builtin.reflect('java.lang.System', 'getenv', 'PATH')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT from_protobuf(X'', 'm', '/etc/passwd')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT to_protobuf(named_struct('a', 1), 'm', '/etc/passwd')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT from_avro(X'', 'int', map('avroSchemaUrl', '/etc/passwd'))", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT to_avro(1, 'int')", 403, "STATEMENT_NOT_ALLOWED"),
        (
            "SELECT from_xml('<r/>', 'a INT', map('rowValidationXSDPath', '/etc'))",
            403,
            "STATEMENT_NOT_ALLOWED",
        ),
        (
            "SELECT schema_of_xml('<r/>', map('rowValidationXSDPath', '/etc'))",
            403,
            "STATEMENT_NOT_ALLOWED",
        ),
        ("SELECT * FROM shop.sales WITH (`Path`='/etc')", 403, "STATEMENT_NOT_ALLOWED"),
        (
            "SELECT (SELECT max(1) FROM shop.sales WITH ('split-size'='1', 'pAth'='/etc'))",
            403,
            "STATEMENT_NOT_ALLOWED",
        ),
        ("SELECT * FROM lake.`/etc/passwd` VERSION AS OF 1", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM IDENTIFIER('sales') VERSION AS OF 1", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM text.`/etc/passwd`", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM csv.`/etc/passwd`", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM binaryFile.`file:/etc/passwd`", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT TRANSFORM (1) USING 'cat' AS (a)", 403, "STATEMENT_NOT_ALLOWED"),
        ("FROM (SELECT 1 AS a) MAP a USING 'cat' AS (b)", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM lake.`/etc/passwd`", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM `/etc/passwd`", 403, "STATEMENT_NOT_ALLOWED"),
        ("BEGIN SELECT 1; END", 422, "SQL_MANY_STATEMENTS"),
        ("BEGIN DROP TABLE sales END", 422, "SQL_SYNTAX"),
        ("EXECUTE IMMEDIATE 'DROP TABLE sales'", 403, "STATEMENT_NOT_ALLOWED"),
        ("WITH a AS (SELECT 1) INSERT INTO returns SELECT 1, 'x'", 403, "SQL_WRITES_OFF"),
        ("FROM calendar INSERT INTO returns SELECT day_key, day_name", 403, "SQL_WRITES_OFF"),
        ("SELECT * FROM calendar |> AS t; DROP TABLE calendar", 422, "SQL_MANY_STATEMENTS"),
    ],
)
def test_a_way_out_of_sql_is_closed(gateway: httpx.Client, sql: str, status: int, code: str) -> None:
    response = post(gateway, sql)
    assert "root:" not in response.text
    problem(response, status, code)


@pytest.mark.parametrize(
    ("sql", "status", "code"),
    [
        ("SELECT * FROM IDENTIFIER('shop.sales')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM IDENTIFIER('te' || 'xt.`/etc/passwd`')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT IDENTIFIER('reflect')('java.lang.System', 'getenv', 'PATH')", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM lake.shop.`sales/../../etc`", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM read_files('/etc/passwd')", 422, "SQL_INVALID"),
        ("SELECT * FROM python_worker_logs()", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM spark_catalog.default.`/etc`", 403, "STATEMENT_NOT_ALLOWED"),
    ],
)
def test_a_name_that_is_made_while_the_query_runs_opens_nothing(
    gateway: httpx.Client, sql: str, status: int, code: str
) -> None:
    response = post(gateway, sql)
    assert "root:" not in response.text
    problem(response, status, code)


def test_xml_reads_no_file(gateway: httpx.Client) -> None:
    document = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><r><a>&x;</a></r>'
    sql = "SELECT xpath_string(:xml, 'r/a') AS v"
    # The function works on the text itself, but reads nothing of the file.
    assert rows(gateway, sql, parameters={"xml": "<r><a>inside</a></r>"}) == [["inside"]]
    assert rows(gateway, sql, parameters={"xml": document}) == [[""]]


def test_xml_opens_no_definition_that_it_names(gateway: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "a.dtd").write_text('<!ENTITY x "from the file">')
    for place in (f"file://{tmp_path}/a.dtd", f"file://{tmp_path}/missing.dtd", "http://127.0.0.1:9/a.dtd"):
        document = f'<!DOCTYPE r SYSTEM "{place}"><r><a>&x;</a></r>'
        answer = post(gateway, "SELECT xpath_string(:xml, 'r/a') AS v", parameters={"xml": document})
        assert "from the file" not in answer.text
        assert "accessExternalDTD" in answer.text


def test_variables_of_the_process_are_only_text(gateway: httpx.Client) -> None:
    for text in ("${env:PATH}", "${system:user.home}", "${spark.jars}", "${PATH}"):
        assert rows(gateway, f"SELECT '{text}' AS v") == [[text]]


def test_the_folder_of_a_table_is_no_name_for_it(gateway: httpx.Client, lake: SqlCatalog) -> None:
    location = lake.load_table("shop.sales").location()
    for name in (location, location.removeprefix("file://"), location.replace("file://", "file:")):
        for prefix in ("lake.", "", "lake.shop.", "parquet.", "iceberg."):
            response = post(gateway, f"SELECT * FROM {prefix}`{name}`")
            problem(response, 403, "STATEMENT_NOT_ALLOWED")


def test_no_table_shows_where_secrets_are(gateway: httpx.Client, running: RunningGateway) -> None:
    password = (running.data_dir / "postgres" / "password").read_text()
    found = gateway.get("/tables/lake.shop.sales").text + gateway.get("/readyz").text
    assert password not in found
    assert password not in running.log_path.read_text()
    logs = [path for path in (running.data_dir / "logs").rglob("*") if path.is_file()]
    assert logs
    assert all(password not in path.read_text(errors="replace") for path in logs)


def test_without_a_known_token_nobody_gets_in(guarded: Guarded) -> None:
    client = guarded.running.client
    wrong = ["", "Bearer", "Bearer wrong", f"Basic {TOKENS['alice']}", TOKENS["alice"]]
    for path in ("/query/x", "/tables", "/tables/lake.shop.returns", "/explain/x", "/nowhere"):
        for header in wrong:
            response = client.get(path, headers={"Authorization": header})
            problem(response, 401, "UNAUTHENTICATED")
            assert response.headers["WWW-Authenticate"].startswith("Bearer")
    problem(client.post("/query", json={"sql": "SELECT 1"}), 401, "UNAUTHENTICATED")


def test_probes_and_the_description_need_no_token(guarded: Guarded) -> None:
    for path in ("/healthz", "/livez", "/readyz", "/docs", "/openapi.json"):
        assert guarded.running.client.get(path).status_code == 200


def test_another_callers_query_does_not_exist(guarded: Guarded) -> None:
    query_id = post(guarded.alice, "SELECT 'of alice'").json()["queryId"]
    paths = [f"/query/{query_id}", f"/query/{query_id}/chunks/0", f"/explain/{query_id}"]
    for path in paths:
        problem(guarded.bob.get(path), 404, "QUERY_NOT_FOUND")
    problem(guarded.bob.delete(f"/query/{query_id}"), 404, "QUERY_NOT_FOUND")
    assert guarded.alice.get(paths[0]).json()["status"]["state"] == "SUCCEEDED"


def test_the_operators_bounds_hold(guarded: Guarded) -> None:
    problem(post(guarded.alice, "SELECT '" + "x" * MAX_SQL_BYTES + "'"), 413, "SQL_TOO_LARGE")
    problem(post(guarded.alice, "SELECT '" + "é" * (MAX_SQL_BYTES // 2) + "'"), 413, "SQL_TOO_LARGE")
    problem(post(guarded.alice, "SELECT 1", rowLimit=20_001), 422, "INVALID_REQUEST")
    problem(post(guarded.alice, "SELECT ?", parameters=[1] * 6), 422, "INVALID_REQUEST")


def test_secrets_stand_in_no_log_no_answer_and_no_command_line(guarded: Guarded) -> None:
    post(guarded.alice, "SELECT no_such_column FROM lake.shop.returns")
    guarded.alice.get("/tables/rest.shop.nothing")
    seen = [guarded.running.log_path.read_text(), guarded.alice.get("/readyz").text]
    seen += guarded.running.command_lines()
    seen += [path.read_text(errors="replace") for path in _files(guarded.running.data_dir / "logs")]
    assert any("SparkSubmit" in text for text in seen)
    for secret in guarded.secrets():
        assert all(secret not in text for text in seen)


def test_the_printed_settings_have_no_secrets(guarded: Guarded) -> None:
    printed = guarded.printed_settings
    assert printed.returncode == 0, printed.stderr
    assert '"lake"' in printed.stdout
    assert all(secret not in printed.stdout + printed.stderr for secret in guarded.secrets())


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
