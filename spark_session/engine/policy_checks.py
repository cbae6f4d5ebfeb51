"""Checks the SQL of row filters and masks, and views, as Spark reads them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr
from pyspark.sql.types import BooleanType, DataType

from service.errors.unavailable import EngineNotReady
from service.model.policies.checks import CheckedPolicy, PolicyProblem
from service.model.policies.policies import RowFilter
from service.model.tables.tables import TableName
from spark_session.java.jvm import UNREACHABLE
from spark_session.java.own_classes import java_instance
from spark_session.session.warm_session import WarmSession
from spark_session.spark_errors import in_gateway_terms, sentence
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

JOB_TAG = "policies"
EXPRESSION_NODES = frozenset(
    {
        *("Add", "And", "Between", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "CaseWhen", "Cast"),
        *("Concat", "Divide", "EqualNullSafe", "EqualTo", "GreaterThan", "GreaterThanOrEqual", "If", "In"),
        *("IntegralDivide", "IsNaN", "IsNotNull", "IsNull", "LessThan", "LessThanOrEqual", "Like", "LikeAll"),
        *("LikeAny", "Literal", "Multiply", "Not", "NotLikeAll", "NotLikeAny", "Or", "Remainder"),
        *("StringTrim", "StringTrimLeft", "StringTrimRight", "Subtract", "Substring", "UnaryMinus"),
        *("UnaryPositive", "UnresolvedAttribute", "UnresolvedExtractValue", "UnresolvedFunction"),
    }
)
"""The nodes that a policy's expression may have, as parsed. Others are refused, such as new ones."""
_AGGREGATES = frozenset({"Aggregate", "WindowExpression", "UnresolvedWindowExpression"})
_PLANS = frozenset({"ScalarSubquery", "Exists", "ListQuery", "InSubquery", "UnresolvedRelation"})


# One for each JVM: py4j keeps the methods of a class by its name, so it must not be compiled twice there.
_readers: WeakKeyDictionary[WarmSession, JavaObject] = WeakKeyDictionary()
_compiling = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Table:
    frame: DataFrame
    name: TableName
    types: Mapping[str, DataType]


class SparkPolicyChecker:
    """Implements `PolicyChecker`; `session` returns the current session, or None.

    `functions` are the names, in lower case, of the functions that policies may call.
    """

    def __init__(self, session: Callable[[], WarmSession | None], functions: frozenset[str]) -> None:
        self._session = session
        self._functions = functions

    def check(self, table: TableName, policies: Sequence[CheckedPolicy]) -> Sequence[PolicyProblem]:
        """See `service.ports.stores.policy_store.PolicyChecker`."""
        session = self._session()
        if session is None:
            raise EngineNotReady("Row filters and masks cannot be checked: there is no engine now.")
        with _asking(), session.children.taken(None, None, JOB_TAG) as child:
            reader = _reader_of(session)
            frame = child.table(table_sql_name(table))
            types = {field.name.lower(): field.dataType for field in frame.schema.fields}
            opened = _Table(frame, table, types)
            found = ((policy, self._fault(child, reader, opened, policy)) for policy in policies)
            return [PolicyProblem(policy, fault, table) for policy, fault in found if fault is not None]

    def definition(self, view: TableName) -> str | None:
        """See `service.ports.stores.policy_store.PolicyChecker`."""
        session = self._session()
        if session is None:
            raise EngineNotReady("Views cannot be read: there is no engine now.")
        with _asking(), session.children.taken(None, None, JOB_TAG) as child:
            return session.table_guards.definition(child, view)

    def _fault(
        self, child: SparkSession, reader: JavaObject, table: _Table, policy: CheckedPolicy
    ) -> str | None:
        sql = policy.predicate if isinstance(policy, RowFilter) else policy.expression
        wanted = BooleanType() if isinstance(policy, RowFilter) else table.types.get(policy.column.lower())
        if wanted is None:
            return "The table has no column of this name."
        try:
            parser = child._jsparkSession.sessionState().sqlParser()
            parsed = json.loads(reader.read(parser, sql))
            fault = self._parsed_fault(parsed, table.types)
            if fault is not None:
                return fault
            if not _fits_in_parentheses(reader, parser, sql):
                return "It ends in a comment: leave it out."
            value = table.frame.select(expr(sql).alias("value"))
            if not reader.isDeterministic(value._jdf):
                return "It may have another value each time: leave out what is not deterministic."
            return _type_fault(value.schema.fields[0].dataType, wanted)
        except ParseException as failure:
            return f"Spark cannot read it as one expression: {sentence(str(failure))}"
        except AnalysisException as failure:
            return sentence(str(failure))

    def _parsed_fault(
        self, parsed: Mapping[str, Sequence[object]], columns: Mapping[str, object]
    ) -> str | None:
        fault = _node_fault([str(node) for node in parsed["nodes"]])
        if fault is not None:
            return fault
        for parts in map(_parts, parsed["functions"]):
            if len(parts) > 1 or parts[0].lower() not in self._functions:
                return f"It calls {'.'.join(parts)}, which policies may not call."
        for parts in map(_parts, parsed["attributes"]):
            if parts[0].lower() not in columns:
                return f"There is no column {'.'.join(parts)}. Write columns without the table's name."
        return None


def _reader_of(session: WarmSession) -> JavaObject:
    with _compiling:
        if session not in _readers:
            _readers[session] = java_instance(session.jvm.gateway, "sluice.policies.PolicyExpressions")
        return _readers[session]


def _node_fault(nodes: Sequence[str]) -> str | None:
    for node in nodes:
        if node in _PLANS:
            return "It has a subquery: a policy reads only the row that it decides about."
        if node in _AGGREGATES:
            return "It reads several rows: a policy reads only the row that it decides about."
    strange = next((node for node in nodes if node not in EXPRESSION_NODES), None)
    return None if strange is None else f"It has an expression that policies may not have: {strange}."


def _fits_in_parentheses(reader: JavaObject, parser: JavaObject, sql: str) -> bool:
    """Whether the text is the same expression in parentheses, as predicates are combined."""
    try:
        return bool(reader.read(parser, f"({sql})") == reader.read(parser, sql))
    except ParseException:
        return False


def _parts(value: object) -> list[str]:
    return [str(part) for part in value] if isinstance(value, list) else []


def _type_fault(found: DataType, wanted: DataType) -> str | None:
    # Whether values may be null is left out.
    if found.simpleString() == wanted.simpleString():
        return None
    return f"Its type is {found.simpleString()}; {wanted.simpleString()} is needed."


@contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        raise in_gateway_terms(failure) from failure
    except UNREACHABLE as failure:
        raise EngineNotReady("Policies cannot be checked: the engine does not answer.") from failure
