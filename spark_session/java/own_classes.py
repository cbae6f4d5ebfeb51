"""Our own Java classes in the driver's JVM. `jars.compiled_classes` makes the jar that they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject


def java_instance(gateway: JavaGateway, class_name: str) -> JavaObject:
    """Returns a new instance of a class below `java/sources`; its constructor takes nothing."""
    jvm = gateway.jvm
    # Spark's class loader knows the jars of `spark.jars`; py4j's own may not.
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    no_types = gateway.new_array(jvm.java.lang.Class, 0)
    no_values = gateway.new_array(jvm.java.lang.Object, 0)
    own = jvm.java.lang.Class.forName(class_name, True, loader)
    instance: JavaObject = own.getDeclaredConstructor(no_types).newInstance(no_values)
    return instance
