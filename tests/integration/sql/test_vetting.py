"""Each decision on SQL holds: what is allowed runs, and what is refused has its stable code."""

from __future__ import annotations

import pytest

from service.model.query.query import Parameter
from spark_session.engine.engine import SparkEngine
from spark_session.vetting.decision import Ruling
from spark_session.vetting.functions import FUNCTIONS, POLICY_SAFE, TABLE_FUNCTIONS
from spark_session.vetting.hints import HINTS
from spark_session.vetting.options import FORMAT_OPTIONS, READ_OPTIONS
from spark_session.vetting.statements import STATEMENTS
from tests.integration.sql.engine_calls import code_of, error_of, root_of, run
from tests.integration.sql.spark_parts import SparkParts
from tests.integration.sql.statement_texts import OTHER_QUERIES, TEXTS

pytestmark = pytest.mark.integration

NOT_ALLOWED = "STATEMENT_NOT_ALLOWED"
# Spark has no example of them, or one that is not a query, or one that fails.
FUNCTION_TEXTS = {
    "regexp": "SELECT 'abc' regexp 'b'",
    "regexp_like": "SELECT regexp_like('abc', 'b')",
    "rlike": "SELECT rlike('abc', 'b')",
    "like": "SELECT like('abc', 'a%')",
    "time": "SELECT time('10:00:00')",
    "date": "SELECT date('2020-01-01')",
    "timestamp": "SELECT timestamp('2020-01-01')",
    "binary": "SELECT binary('a')",
}
# The types TIME, GEOMETRY and GEOGRAPHY are switched off in this Spark.
SWITCHED_OFF = (
    "make_time st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid time time_diff time_trunc "
    "to_time try_to_time"
)
FAILING = {"raise_error": "QUERY_FAILED"} | dict.fromkeys(SWITCHED_OFF.split(), "SQL_INVALID")
TABLE_FUNCTION_TEXTS = {
    "explode": "explode(array(1))",
    "explode_outer": "explode_outer(array(1))",
    "inline": "inline(array(struct(1)))",
    "inline_outer": "inline_outer(array(struct(1)))",
    "json_tuple": "json_tuple('{\"a\": 1}', 'a')",
    "posexplode": "posexplode(array(1))",
    "posexplode_outer": "posexplode_outer(array(1))",
    "variant_explode": "variant_explode(parse_json('[1]'))",
    "variant_explode_outer": "variant_explode_outer(parse_json('[1]'))",
    "stack": "stack(1, 2)",
    "range": "range(1)",
}
READ_OPTION_VALUES = {
    "branch": "main",
    "batch-size": "100",
    "file-open-cost": "1000",
    "locality": "false",
    "lookback": "10",
    "split-size": "134217728",
    "vectorization-enabled": "false",
}


def text_of(name: str, examples: list[str]) -> str:
    if name in FUNCTION_TEXTS:
        return FUNCTION_TEXTS[name]
    return examples[0] if examples else f"SELECT {name}(1)"


def test_each_function_does_what_its_decision_says(engine: SparkEngine) -> None:
    wrong = {}
    for name, examples in SparkParts(engine).functions().items():
        is_refused = FUNCTIONS[name].ruling is Ruling.REFUSED
        text = f"SELECT {name}('a', 'b')" if is_refused else text_of(name, examples)
        expected = FUNCTIONS[name].by if is_refused else FAILING.get(name, "")
        if (error := error_of(engine, text)).partition(" ")[0] != expected:
            wrong[text] = error
    assert not wrong


def test_a_refused_function_has_no_other_name(engine: SparkEngine) -> None:
    refused = [name for name, decision in FUNCTIONS.items() if decision.ruling is Ruling.REFUSED]
    for name in refused:
        for written in (name.upper(), f"`{name}`", f"builtin.{name}", f"SYSTEM.builtin.{name}"):
            assert code_of(engine, f"SELECT {written}('a', 'b')") == NOT_ALLOWED, written
        for written in (f"IDENTIFIER('{name}')", f"IDENTIFIER('{name[0]}' || '{name[1:]}')"):
            assert code_of(engine, f"SELECT {written}('a', 'b')") == NOT_ALLOWED, written
        assert code_of(engine, f"SELECT 1 LATERAL VIEW {name}('a', 'b') t AS x") == NOT_ALLOWED, name


def test_each_table_function_does_what_its_decision_says(engine: SparkEngine) -> None:
    for name, decision in TABLE_FUNCTIONS.items():
        text = f"SELECT * FROM {TABLE_FUNCTION_TEXTS.get(name, f'{name}()')}"
        assert code_of(engine, text) == (decision.by if decision.ruling is Ruling.REFUSED else ""), text


def test_a_function_that_is_not_sparks_is_not_found(engine: SparkEngine) -> None:
    for name in (
        "evil",
        "system.session.evil",
        "lake.shop.evil",
        "spark_catalog.default.evil",
        "lake.system.evil",
    ):
        assert code_of(engine, f"SELECT {name}(1)") == "SQL_INVALID", name
        # Spark's parser takes no qualified name here.
        expected = "SQL_SYNTAX" if "." in name else "SQL_INVALID"
        assert code_of(engine, f"SELECT * FROM {name}(1)") == expected, name
    assert code_of(engine, "SELECT lake.system.bucket(10, id) FROM lake.shop.sales") == ""
    assert code_of(engine, "SELECT IDENTIFIER('id'), IDENTIFIER('abs')(-1) FROM lake.shop.sales") == ""


@pytest.mark.parametrize("name", STATEMENTS)
def test_each_statement_does_what_its_decision_says(engine: SparkEngine, name: str) -> None:
    decision = STATEMENTS[name]
    assert code_of(engine, TEXTS[name]) == (decision.by if decision.ruling is Ruling.REFUSED else ""), TEXTS[
        name
    ]


@pytest.mark.parametrize("sql", OTHER_QUERIES, ids=lambda sql: sql[:60])
def test_other_parts_of_queries_pass(engine: SparkEngine, sql: str) -> None:
    assert error_of(engine, sql) == ""


def test_each_hint_passes(engine: SparkEngine) -> None:
    for name in HINTS:
        arguments = "(2, id)" if name in ("REPARTITION_BY_RANGE", "REBALANCE") else "(2)"
        arguments = arguments if name in ("COALESCE", "REPARTITION") or "," in arguments else "(s)"
        joined = "lake.shop.sales s JOIN lake.shop.sales t USING (id)"
        assert error_of(engine, f"SELECT /*+ {name}{arguments} */ id FROM {joined}") == "", name


def test_each_read_option_does_what_its_decision_says(engine: SparkEngine) -> None:
    for name, decision in READ_OPTIONS.items():
        sql = f"SELECT count(*) FROM lake.shop.sales WITH (`{name}` = '{READ_OPTION_VALUES.get(name, '1')}')"
        code = code_of(engine, sql)
        assert (code == NOT_ALLOWED) is (decision.ruling is Ruling.REFUSED), name
        assert code == "" or name not in READ_OPTION_VALUES, (name, code)


def test_each_format_option_does_what_its_decision_says(engine: SparkEngine) -> None:
    for name, decision in FORMAT_OPTIONS.items():
        for function in ("schema_of_csv('1'", "from_csv('1', 'a INT'", "from_json('{}', 'a INT'"):
            code = code_of(engine, f"SELECT {function}, map('{name}', '1'))")
            assert (code == NOT_ALLOWED) is (decision.ruling is Ruling.REFUSED), (name, function)


@pytest.mark.parametrize(
    "options",
    [
        "map('max' || 'Columns', '2000000000')",
        "map_from_arrays(array('maxColumns'), array('2000000000'))",
        "str_to_map('inputBufferSize:2000000000', ',', ':')",
        "map('sep', ';', 'MAXCHARSPERCOLUMN', '2000000000')",
        "IDENTIFIER('map')('maxColumns', '2000000000')",
        "map_concat(map('maxColumns', '2000000000'), map())",
        "if(true, map('maxColumns', '2000000000'), map())",
        "map(:name, '2000000000')",
    ],
)
def test_no_option_of_csv_takes_memory(engine: SparkEngine, options: str) -> None:
    for function in (
        "schema_of_csv('1'",
        "from_csv('1', 'a INT'",
        "IDENTIFIER('to_csv')(named_struct('a', 1)",
    ):
        for sql in (f"SELECT {function}, {options})", f"SELECT from_csv('1', {function}, {options}))"):
            assert code_of(engine, sql.replace(":name", "lower('MAXCOLUMNS')")) == NOT_ALLOWED, sql
    assert run(engine, "SELECT 1 AS one").rows.to_pylist() == [{"one": 1}]


def test_a_version_is_not_chosen_by_a_query_that_spark_runs_before_the_checks(engine: SparkEngine) -> None:
    for moment in (
        "(SELECT current_timestamp())",
        "date_trunc('DAY', (SELECT max(current_date()) FROM range(9)))",
    ):
        sql = f"SELECT count(*) FROM lake.shop.sales TIMESTAMP AS OF {moment}"
        assert code_of(engine, sql) == NOT_ALLOWED


def test_entities_of_xml_do_not_multiply(engine: SparkEngine) -> None:
    entities = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 5))
    document = f'<!DOCTYPE r [<!ENTITY a0 "{"x" * 1000}">{entities}]><r><a>&a4;</a></r>'
    with pytest.raises(Exception, match="entit"):
        run(engine, "SELECT length(xpath_string(:x, 'r/a'))", {"x": Parameter(document)})


def test_a_view_holds_nothing_that_a_query_may_not_hold(engine: SparkEngine) -> None:
    root = root_of(engine)
    views = {
        "program": "SELECT TRANSFORM (1) USING 'cat' AS (a)",
        "csv": "SELECT from_csv(string(id), 'a INT', map('maxColumns', '9')) AS a FROM range(1)",
        "fair": "SELECT k, max(name) AS name FROM lake.shop.sales GROUP BY k",
    }
    for name, text in views.items():
        root.sql(f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW {name} AS {text}")
    root.sql("CREATE OR REPLACE GLOBAL TEMPORARY VIEW streamed AS SELECT * FROM STREAM lake.shop.sales")
    assert code_of(engine, "SELECT * FROM global_temp.streamed") == NOT_ALLOWED
    for name in views:
        for sql in (f"SELECT * FROM global_temp.{name}", f"SELECT (SELECT count(*) FROM global_temp.{name})"):
            assert code_of(engine, sql) == ("" if name == "fair" else NOT_ALLOWED), sql


def test_what_a_policy_may_call_is_deterministic_and_allowed(engine: SparkEngine) -> None:
    for name, examples in SparkParts(engine).functions().items():
        if name in POLICY_SAFE and name not in FAILING:
            assert FUNCTIONS[name].ruling is not Ruling.REFUSED
            frame = root_of(engine).sql(text_of(name, examples))
            plan = frame._jdf.queryExecution().analyzed()
            assert plan.deterministic(), name
            assert not {"Aggregate", "Window", "Generate"} & set(plan.toString().replace("[", " ").split()), (
                name
            )
