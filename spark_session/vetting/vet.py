"""Checks a parsed statement against the tables: its nodes, relations, options and functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from service.errors.gateway_error import did_you_mean
from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from spark_session.vetting.decision import Decision, Ruling
from spark_session.vetting.functions import FUNCTIONS, ICEBERG_FUNCTIONS, TABLE_FUNCTIONS
from spark_session.vetting.options import READ_OPTIONS, TAKEN_FORMAT_OPTIONS, TAKEN_READ_OPTIONS
from spark_session.vetting.plan_nodes import QUERY_NODES
from spark_session.vetting.vetted_writes import DEFINING, NAMED, WRITES

# The qualifiers of a built-in function, as Spark resolves them.
_BUILTIN: tuple[list[str], ...] = ([], ["builtin"], ["system", "builtin"])
ICEBERG_SCHEMA = "system"
# Spark's parser gives it to each relation that a statement writes to.
_WRITE_PRIVILEGES = "__required_write_privileges__"


def vet_statement(read: Mapping[str, Any]) -> None:
    """Checks everything that `StatementReader.java` has read of a statement. Bounds are checked elsewhere.

    Raises:
        StatementNotAllowed: it is not a query, or holds something that is refused.
        SqlInvalid: it calls a function that does not exist.
    """
    allow_nodes(read["nodes"])
    allow_relations(read["relations"])
    allow_options(name for name, _ in read["options"])
    allow_functions(read["functions"])
    allow_table_functions(read["tableFunctions"])
    allow_format_options(read["formatOptions"])


def vet_write(read: Mapping[str, Any]) -> None:
    """Checks the same of a statement that writes; what it is, and its target, are checked elsewhere.

    Raises:
        StatementNotAllowed, SqlInvalid: as `vet_statement`.
    """
    # Its own node, once: a text may not have another write below it.
    own = next(node for node in read["nodes"] if node in WRITES)
    named = frozenset[str]() if own not in DEFINING else NAMED
    nodes = [node for node in read["nodes"] if node != own and node not in named]
    options = [option for option in read["options"] if option[0].lower() != _WRITE_PRIVILEGES]
    vet_statement({**read, "nodes": nodes, "options": options})


def allow_nodes(nodes: Iterable[str]) -> None:
    """Checks that every node is one of a query.

    >>> allow_nodes(["Project", "UnresolvedRelation"])
    >>> allow_nodes(["DropTable", "UnresolvedIdentifier"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    service.errors.statement_errors.StatementNotAllowed: Only queries may be sent, and Spark reads...
    """
    for node in nodes:
        if node not in QUERY_NODES:
            raise StatementNotAllowed(f"Only queries may be sent, and Spark reads {node} in this one.")


def allow_relations(relations: Sequence[Sequence[str]]) -> None:
    """Checks that every relation is named, not reached by its path.

    Iceberg's Spark catalogs open any folder whose path is given as a table's name.

    >>> allow_relations([["lake", "tpcds", "item"]])
    >>> allow_relations([["lake", "/etc/table"]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    service.errors.statement_errors.StatementNotAllowed: Tables are read by name; a path is not...
    """
    if any("/" in part for parts in relations for part in parts):
        raise StatementNotAllowed("Tables are read by name; a path is not accepted as a table's name.")


def allow_options(names: Iterable[str]) -> None:
    """Checks that callers may give every option that a table is read with.

    >>> allow_options(["branch"])
    >>> allow_options(["path"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    service.errors.statement_errors.StatementNotAllowed: A table may not be read with the option...
    """
    for name in names:
        if name.lower() not in TAKEN_READ_OPTIONS:
            decision = READ_OPTIONS.get(name.lower())
            reason = f" {decision.reason}" if decision else ""
            raise StatementNotAllowed(f"A table may not be read with the option {name[:40]!r} here.{reason}")


def allow_functions(names: Iterable[Sequence[str]]) -> None:
    """Checks that every function is offered: by Spark, or by an Iceberg catalog in its schema `system`.

    >>> allow_functions([["SUM"], ["system", "builtin", "abs"], ["lake", "system", "bucket"]])
    >>> allow_functions([["reflect"]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    service.errors.statement_errors.StatementNotAllowed: The function reflect is refused. Runs any...
    >>> allow_functions([["sume"]])
    Traceback (most recent call last):
    service.errors.statement_errors.SqlInvalid: There is no function sume. Did you mean sum?
    """
    for parts in names:
        *qualifier, name = (part.lower() for part in parts)
        if not name:
            raise StatementNotAllowed("IDENTIFIER(…) names a function only by one literal text.")
        is_partition_value = name in ICEBERG_FUNCTIONS and qualifier[-1:] == [ICEBERG_SCHEMA]
        if not is_partition_value:
            _allow_function("function", parts, qualifier, FUNCTIONS.get(name))


def allow_table_functions(names: Iterable[Sequence[str]]) -> None:
    """Checks that every function that stands in place of a table is offered.

    >>> allow_table_functions([["range"]])
    >>> allow_table_functions([["read_files"]])
    Traceback (most recent call last):
    service.errors.statement_errors.SqlInvalid: There is no table function read_files.
    """
    for parts in names:
        *qualifier, name = (part.lower() for part in parts)
        _allow_function("table function", parts, qualifier, TABLE_FUNCTIONS.get(name))


def allow_format_options(options: Iterable[Sequence[str | None]]) -> None:
    """Checks that functions of CSV, JSON and XML have only options that choose a form.

    >>> allow_format_options([("from_csv", "sep")])
    >>> allow_format_options([("from_csv", "maxColumns")])
    Traceback (most recent call last):
    service.errors.statement_errors.StatementNotAllowed: from_csv may not have the option 'maxColumns' here.
    """
    for function, name in options:
        if name is None:
            raise StatementNotAllowed(f"{function} takes its options as map('name', 'value', …) only.")
        if name.lower() not in TAKEN_FORMAT_OPTIONS:
            raise StatementNotAllowed(f"{function} may not have the option {name[:40]!r} here.")


def _allow_function(kind: str, parts: Sequence[str], qualifier: list[str], decision: Decision | None) -> None:
    if decision is None or qualifier not in _BUILTIN:
        name = ".".join(parts)
        known = FUNCTIONS if kind == "function" else TABLE_FUNCTIONS
        nearest = get_close_matches(name.lower()[:40], known, 1, 0.8)
        raise SqlInvalid(f"There is no {kind} {name[:200]}.{did_you_mean(nearest)}")
    if decision.ruling is Ruling.REFUSED:
        raise StatementNotAllowed(f"The {kind} {decision.name} is refused. {decision.reason}")
