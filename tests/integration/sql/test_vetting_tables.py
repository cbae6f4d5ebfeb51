"""The tables of decisions have all that the pinned Spark has, and nothing that it does not have.

After an update of Spark, a failure here names what needs a decision.
"""

from __future__ import annotations

import pytest

from spark_session.engine.engine import SparkEngine
from spark_session.vetting.expressions import EXPRESSIONS
from spark_session.vetting.functions import FUNCTIONS, OFFERED, TABLE_FUNCTIONS
from spark_session.vetting.hints import HINTS
from spark_session.vetting.options import FORMAT_OPTIONS, READ_OPTIONS
from spark_session.vetting.plan_nodes import ANALYZED_NODES, PARSED_NODES, REFUSED_NODES
from spark_session.vetting.statements import STATEMENTS
from spark_session.vetting.vet_command import METADATA_NODES, SESSION_NODES, TARGET_NODES
from spark_session.vetting.vetted_writes import WRITE_NODES, WRITING_NODES
from tests.integration.sql.spark_parts import SparkParts

pytestmark = pytest.mark.integration

# They do not choose a strategy of a join.
PARTITIONING_HINTS = {"COALESCE", "REPARTITION", "REPARTITION_BY_RANGE", "REBALANCE"}


@pytest.fixture(scope="module")
def spark(engine: SparkEngine) -> SparkParts:
    return SparkParts(engine)


def compare(decided: set[str], found: set[str]) -> None:
    """Asserts that nothing is undecided, and nothing decided is gone."""
    undecided, gone = sorted(found - decided), sorted(decided - found)
    assert not undecided, f"needs a decision: {', '.join(undecided)}"
    assert not gone, f"Spark does not have it: {', '.join(gone)}"


def test_each_function_has_a_decision(spark: SparkParts) -> None:
    compare(set(FUNCTIONS), set(spark.functions()))
    compare(set(TABLE_FUNCTIONS), set(spark.table_functions()))


def test_sessions_have_the_functions_that_are_offered(spark: SparkParts) -> None:
    compare(set(OFFERED), spark.offered_functions())


def test_each_plan_node_has_a_decision(spark: SparkParts) -> None:
    commands = {*METADATA_NODES, *SESSION_NODES, *TARGET_NODES, *WRITE_NODES, *WRITING_NODES}
    compare({*PARSED_NODES, *ANALYZED_NODES, *REFUSED_NODES, *commands}, spark.plan_nodes())
    assert not {*PARSED_NODES, *ANALYZED_NODES} & set(REFUSED_NODES)
    assert not commands & {*PARSED_NODES, *ANALYZED_NODES, *REFUSED_NODES}


def test_each_expression_has_a_decision(spark: SparkParts) -> None:
    compare(set(EXPRESSIONS), spark.expressions())


def test_each_statement_of_the_grammar_has_a_decision(spark: SparkParts) -> None:
    compare(set(STATEMENTS), spark.statements())


def test_each_hint_has_a_decision(spark: SparkParts) -> None:
    compare(set(HINTS) - PARTITIONING_HINTS, spark.join_hints())


def test_each_option_has_a_decision(spark: SparkParts) -> None:
    compare(set(READ_OPTIONS), spark.read_options())
    compare({name.lower() for name in FORMAT_OPTIONS}, {name.lower() for name in spark.format_options()})


def test_a_new_function_fails_by_its_name() -> None:
    with pytest.raises(AssertionError, match="needs a decision: read_anything"):
        compare(set(FUNCTIONS), {*FUNCTIONS, "read_anything"})
    with pytest.raises(AssertionError, match="does not have it: abs"):
        compare(set(FUNCTIONS), set(FUNCTIONS) - {"abs"})
