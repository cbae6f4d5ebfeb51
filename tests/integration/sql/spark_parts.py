"""Parts of the pinned Spark and Iceberg: functions with examples, classes, statements, hints, options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyspark

from spark_session.engine.engine import SparkEngine

_CATALYST = "org.apache.spark.sql.catalyst"
_EXAMPLE = re.compile(r"> (SELECT.*?);\n", re.DOTALL)
_CLASSES = """
import java.lang.reflect.Modifier;

public final class SubclassReader {
    /** Returns the concrete subclasses among these classes, one a line. */
    public String of(String parent, String names) throws Exception {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        Class wanted = Class.forName(parent, false, loader);
        StringBuilder found = new StringBuilder();
        String[] all = names.split(" ");
        for (int i = 0; i < all.length; i++) {
            try {
                Class each = Class.forName(all[i], false, loader);
                if (wanted.isAssignableFrom(each) && !Modifier.isAbstract(each.getModifiers())) {
                    found.append(all[i]).append("\\n");
                }
            } catch (LinkageError notComplete) {
                continue;
            }
        }
        return found.toString();
    }
}
"""
_PLAN, _EXPRESSION = f"{_CATALYST}.plans.logical.LogicalPlan", f"{_CATALYST}.expressions.Expression"
# Labels of alternatives in Spark's grammar. Those of expressions make no plan.
_RULES = frozenset(
    f"{rule}Context"
    for rule in (
        "Statement",
        "DmlStatementNoWith",
        "InsertInto",
        "SetResetStatement",
        "SetStatementInsideSqlScript",
        "CaseStatement",
        "QueryPrimary",
        "QuerySpecification",
        "QueryTerm",
        "RelationPrimary",
        "StreamRelationPrimary",
    )
)


class SparkParts:
    """Asks the JVM of a running engine."""

    def __init__(self, engine: SparkEngine) -> None:
        assert engine.session is not None
        self._jvm: Any = engine.session.jvm.gateway.jvm
        self._no_types = engine.session.jvm.gateway.new_array(self._jvm.java.lang.Class, 0)
        self._no_values = engine.session.jvm.gateway.new_array(self._jvm.java.lang.Object, 0)
        self._loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        self._jars = [Path(path) for path in engine._settings.jars]

    def functions(self) -> dict[str, list[str]]:
        """Returns Spark's own examples of each function, also of those that the gateway drops."""
        registered = self._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.expressions()
        return dict(self._examples(registered))

    def table_functions(self) -> dict[str, list[str]]:
        """Returns the same of functions that stand in place of a table."""
        registered = self._jvm.org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry.logicalPlans()
        return dict(self._examples(registered))

    def offered_functions(self) -> set[str]:
        """Returns the names of the functions that sessions have."""
        registry = self._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
        return {name.funcName() for name in _each(registry.listFunction())}

    def plan_nodes(self) -> set[str]:
        """Returns the names of all classes of plan nodes."""
        return self._subclasses(_PLAN)

    def expressions(self) -> set[str]:
        """Returns the names of all classes of expressions."""
        return self._subclasses(_EXPRESSION)

    def statements(self) -> set[str]:
        """Returns the alternatives of statements, queries and relations in Spark's grammar."""
        parser = self._class(f"{_CATALYST}.parser.SqlBaseParser")
        return {
            each.getSimpleName().removesuffix("Context")
            for each in parser.getDeclaredClasses()
            if each.getSuperclass().getSimpleName() in _RULES
        }

    def join_hints(self) -> set[str]:
        """Returns the names of the hints for joins."""
        hints = self._object(f"{_CATALYST}.plans.logical.JoinStrategyHint").strategies()
        return {name for hint in _each(hints) for name in _each(hint.hintAliases())}

    def read_options(self) -> set[str]:
        """Returns the options of Iceberg's reader, in lower case."""
        fields = self._class("org.apache.iceberg.spark.SparkReadOptions").getDeclaredFields()
        return {str(field.get(None)).lower() for field in fields if not field.getName().endswith("_DEFAULT")}

    def format_options(self) -> set[str]:
        """Returns the options of CSV, JSON and XML."""
        formats = ("csv.CSVOptions", "json.JSONOptions", "xml.XmlOptions")
        return {
            option
            for each in formats
            for option in _each(self._object(f"{_CATALYST}.{each}").getAllOptions())
        }

    def _examples(self, registered: Any) -> Iterator[tuple[str, list[str]]]:
        for entry in _each(registered):
            yield entry._1(), _EXAMPLE.findall(entry._2()._1().getExamples())

    def _subclasses(self, parent: str) -> set[str]:
        found = self._reader.of(parent, " ".join(sorted(self._class_names())))
        return {name.rstrip("$").replace("$", ".").rpartition(".")[2] for name in found.split()}

    @cached_property
    def _reader(self) -> Any:
        # The bridge finds methods by the name of their class, so a JVM loads only one class of this name.
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(self._loader)
        compiler.cook(_CLASSES)
        reader = compiler.getClassLoader().loadClass("SubclassReader").getDeclaredConstructor(self._no_types)
        return reader.newInstance(self._no_values)

    def _class_names(self) -> set[str]:
        jars = [*Path(pyspark.__path__[0]).glob("jars/spark-*.jar"), *self._jars]
        entries = {entry for jar in jars for entry in ZipFile(jar).namelist()}
        names = {entry.removesuffix(".class") for entry in entries if entry.endswith(".class")}
        return {
            name.replace("/", ".")
            for name in names
            if name.startswith("org/apache/spark/sql/") and "$$" not in name
        }

    def _class(self, name: str) -> Any:
        return self._jvm.java.lang.Class.forName(name, True, self._loader)

    def _object(self, name: str) -> Any:
        return self._class(f"{name}$").getField("MODULE$").get(None)


def _each(values: Any) -> Iterator[Any]:
    iterator = values.iterator()
    while iterator.hasNext():
        yield iterator.next()
