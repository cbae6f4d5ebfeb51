"""Words that Spark takes for an alias: detection takes them for one too, or leaves the query as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import ParseException
from sqlglot import exp
from sqlglot.dialects.spark import Spark

from service.gateway import Gateway
from service.pruning.name_resolution.is_supported_syntax import is_supported_syntax
from service.pruning.sql_text.parse import parse
from spark_session.engine.engine import SparkEngine

FORMS = (
    "SELECT a FROM t {word} (a)",
    "SELECT a FROM t {word}",
    "SELECT a FROM t {word} WHERE a = 1",
    "SELECT a FROM (SELECT a FROM t) {word} (a)",
    "SELECT a FROM t JOIN u {word} (a)",
    "SELECT a FROM t, u {word} (a) ORDER BY 1",
    "SELECT a FROM t {word} JOIN u ON a = b",
    "SELECT a FROM t JOIN u {word} ON a = b",
)
HARMLESS = frozenset({"as", "asof"})
Aliases = Callable[[str], frozenset[str]]


@pytest.fixture(scope="module")
def aliases(gateway: Gateway) -> Aliases:
    """Returns a function from a text to the aliases that Spark reads in it, in lower case."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    session = engine.session
    assert session is not None
    parser = session.root._jsparkSession.sessionState().sqlParser()

    def read(sql: str) -> frozenset[str]:
        try:
            plan = parser.parsePlan(sql).toString()
        except (ParseException, Py4JJavaError):
            return frozenset()
        return frozenset(line.split()[-1].lower() for line in plan.splitlines() if "SubqueryAlias" in line)

    return read


def words(gateway: Gateway) -> Iterator[str]:
    """Yields Spark's own words, and those that have a meaning to the parser of detection."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    session = engine.session
    assert session is not None
    yield from (row[0] for row in session.root.sql("SELECT keyword FROM sql_keywords()").collect())
    yield from (word for word in Spark.Tokenizer.KEYWORDS if word.replace("_", "").isalpha())


@pytest.mark.parametrize("form", FORMS)
def test_a_word_that_is_an_alias_to_spark_is_one_to_detection(
    form: str, gateway: Gateway, aliases: Aliases
) -> None:
    found = sorted({word.lower() for word in words(gateway)})
    assert len(found) > 400
    # An alias AS is lost: a text that uses it has names that detection does not know. And what is joined by
    # ASOF has no filters.
    misread = [
        word
        for word in found
        if word not in HARMLESS and word in aliases(form.format(word=word)) and _is_misread(form, word)
    ]
    assert misread == []


def _is_misread(form: str, word: str) -> bool:
    parsed = parse(form.format(word=word))
    if parsed is None or not is_supported_syntax(parsed.tree):
        return False
    relations = parsed.tree.find_all(exp.Table, exp.Subquery)
    return word not in {relation.alias.lower() for relation in relations}
