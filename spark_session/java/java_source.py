"""Compiles our few Java classes in the driver's JVM, with the compiler that Spark ships for its own code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_session.resources import resource_path

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject


def java_instance(gateway: JavaGateway, class_name: str, *uses: str) -> JavaObject:
    """Returns a new instance of the class in `resources/<class_name>.java`; its constructor takes nothing.

    `uses` are others of our classes that it needs.
    """
    jvm = gateway.jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for use in uses:
        loader = _loader(gateway, use, loader)
    compiled = _loader(gateway, class_name, loader).loadClass(class_name)
    no_types = gateway.new_array(jvm.java.lang.Class, 0)
    no_values = gateway.new_array(jvm.java.lang.Object, 0)
    instance: JavaObject = compiled.getDeclaredConstructor(no_types).newInstance(no_values)
    return instance


def _loader(gateway: JavaGateway, class_name: str, parent: JavaObject) -> JavaObject:
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook(resource_path(f"{class_name}.java").read_text(encoding="utf-8"))
    loader: JavaObject = compiler.getClassLoader()
    return loader
