"""The page of what SQL may hold, from the tables of decisions.

`python -m docs.tooling.sql_security > docs/reference/sql-security.md` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.ingest.schema_changes.table_properties import accepted_properties
from spark_session.vetting.decision import Decision, Ruling
from spark_session.vetting.expressions import CALCULATING, EXPRESSIONS
from spark_session.vetting.functions import (
    FUNCTIONS,
    ICEBERG_FUNCTIONS,
    NAMES_THE_CALLER,
    POLICY_SAFE,
    TABLE_FUNCTIONS,
)
from spark_session.vetting.hints import HINTS
from spark_session.vetting.options import FORMAT_OPTIONS, READ_OPTIONS
from spark_session.vetting.plan_nodes import ANALYZED_NODES, PARSED_NODES, REFUSED_NODES
from spark_session.vetting.statements import STATEMENTS
from spark_session.vetting.vet_command import METADATA_NODES, SESSION_NODES, TARGET_NODES
from spark_session.vetting.vetted_writes import WRITE_NODES, WRITING_NODES

_HEAD = """# SQL that may be sent

This page is generated from the tables of decisions in `spark_session/vetting`. Every caller and every
role has the same tables. A test compares them with the Spark that is installed: a function, a kind of
plan node, an expression, a statement, a hint or an option without a decision fails it by name.

Spark's own parser and analyzer read each query. The gateway looks at their results, never at the text:

1. **As it is parsed.** Each plan node, relation, function and option must be listed here as allowed or
   bounded. A function that is not listed does not exist (`SQL_INVALID`). A name that only a running query
   would know is refused: `IDENTIFIER(…)` names a column, or a function by one literal. A version is not
   chosen by a subquery.
2. **As it is analyzed.** The texts of views, and the functions of catalogs, are parts of the plan now.
   Each node and each expression must be listed as allowed. Anything else is refused
   (`STATEMENT_NOT_ALLOWED`).
3. **As it is planned.** The tasks of all stages are counted.

Refused functions are also removed from the engine, so no other way leads to them. Bounds are
[settings](settings.md), or fixed numbers; a text beyond one is refused with `QUERY_TOO_LARGE` or
`READ_OPTION_INVALID`. [Errors](errors.md) lists all codes.

"""
_STATEMENTS = """Names are the alternatives of Spark's grammar: its statements, queries and relations.
"""
_FUNCTIONS = f"""Names may be qualified with `builtin` or `system.builtin`. Each Iceberg catalog also has
{", ".join(f"`{name}`" for name in sorted(ICEBERG_FUNCTIONS))} in its schema `system`, which
must be written.
"""
_POLICIES = """A row filter or a mask may call these functions. Each gives the same value for the same
arguments, from one row, in time and memory that are proportional to them.
"""
_OPTIONS = """`SELECT … FROM t WITH (…)` takes these options, in any case. Any other option is refused.
"""
_FORMATS = """`from_csv`, `to_csv`, `schema_of_csv`, `from_json`, `to_json`, `schema_of_json` and `to_xml`
take options only as `map('name', value, …)` with literal names. Any other option is refused.
"""
_PROPERTIES = """A query cannot set a property of a table. An ingest that creates a table may set these. Any
other is refused with `INGEST_INVALID`.

| property | values |
|---|---|
"""
_COMMANDS = """Names are those of the statement's own node, and of what it names. A statement of metadata
cannot be a part of a query. [Metadata](../how-to/metadata.md) says what each shows to whom, and
[sessions](../how-to/sessions.md) what each changes.
"""
_WRITES = """Names are those of the statement as it is parsed, and of the nodes that it is analyzed to.
[Writes by SQL](../how-to/sql-writes.md) says who may do what.
"""
_NODES = """Names are Spark's and Iceberg's classes of plan nodes. An unknown one is refused.
"""


def sql_security_page() -> str:
    """Returns the page in Markdown."""
    return _HEAD + "\n".join(_sections())


def _sections() -> Iterator[str]:
    yield _section("Statements", STATEMENTS, _STATEMENTS)
    yield _section("Functions", FUNCTIONS, _FUNCTIONS)
    yield _section("Functions in place of tables", TABLE_FUNCTIONS)
    yield f"## Functions in row filters and masks\n\n{_POLICIES}\n{_names(sorted(POLICY_SAFE))}\n"
    yield f"{_names(sorted(NAMES_THE_CALLER))} are not among them: they depend on the caller.\n"
    yield _section("Hints", HINTS, "Spark ignores any other hint.\n")
    yield _section("Options of a read", READ_OPTIONS, _OPTIONS)
    yield _section("Options of CSV, JSON and XML", FORMAT_OPTIONS, _FORMATS)
    yield f"## Properties of tables\n\n{_PROPERTIES}{_properties()}"
    yield _section("Plan nodes of a text", PARSED_NODES, _NODES)
    yield _section("Plan nodes of an analyzed query", ANALYZED_NODES)
    yield _section(
        "Statements that are no queries", {**METADATA_NODES, **SESSION_NODES, **TARGET_NODES}, _COMMANDS
    )
    yield _section("Statements that write", {**WRITE_NODES, **WRITING_NODES}, _WRITES)
    yield _section("Plan nodes that are refused", REFUSED_NODES)
    refused = {name: found for name, found in EXPRESSIONS.items() if found.ruling is Ruling.REFUSED}
    yield _section("Expressions that are refused", refused, _expressions())


def _expressions() -> str:
    return (
        f"An analyzed query may have {len(CALCULATING)} kinds of expressions of Spark: its operators and "
        "functions. These are refused, and so is every class that is not Spark's.\n"
    )


def _section(title: str, table: Mapping[str, Decision], text: str = "") -> str:
    rows = "".join(
        f"| {ruling} | {by} | {reason} | {_names(names)} |\n"
        for (ruling, by, reason), names in _groups(table).items()
    )
    paragraph = f"{text}\n" if text else ""
    return f"## {title}\n\n{paragraph}| decision | bound or code | why | names |\n|---|---|---|---|\n{rows}"


def _groups(table: Mapping[str, Decision]) -> dict[tuple[str, str, str], list[str]]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name, found in table.items():
        by = f"`{found.by}`" if found.by and " " not in found.by else found.by or "–"
        groups.setdefault((found.ruling.value, by, found.reason), []).append(name)
    return groups


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`".replace("|", "\\|") for name in names)


def _properties() -> str:
    return "".join(f"| `{name}` | {words} |\n" for name, words in accepted_properties().items())


if __name__ == "__main__":
    print(sql_security_page(), end="")
