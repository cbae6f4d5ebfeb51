"""Datasets whose rows the driver announces but never serves."""

from __future__ import annotations

from py4j.java_gateway import JavaGateway, JavaObject

_SOURCE = """
import org.apache.spark.api.python.PythonRDD$;
import scala.runtime.AbstractFunction1;

public final class GivesUp {
    private final String error;

    public GivesUp(String error) {
        this.error = error;
    }

    public Object collectAsArrowToPython() {
        return PythonRDD$.MODULE$.serveToStream("serve-Arrow", new Failing(error));
    }

    public Object recurse() {
        return recurse().toString() + recurse();
    }

    private static final class Failing extends AbstractFunction1 {
        private final String error;

        Failing(String error) {
            this.error = error;
        }

        public Object apply(Object stream) {
            if ("stack".equals(error)) {
                throw new StackOverflowError();
            }
            throw new IllegalStateException(error);
        }
    }
}
"""


def datasets_that_give_up(gateway: JavaGateway, *errors: str) -> list[JavaObject]:
    """Returns datasets whose rows are never served, for these errors; the JVM does not report `stack`."""
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(_SOURCE)
    types = gateway.new_array(gateway.jvm.java.lang.Class, 1)
    types[0] = gateway.jvm.java.lang.Class.forName("java.lang.String")
    constructor = compiler.getClassLoader().loadClass("GivesUp").getDeclaredConstructor(types)
    datasets = []
    for error in errors:
        values = gateway.new_array(gateway.jvm.java.lang.Object, 1)
        values[0] = error
        datasets.append(constructor.newInstance(values))
    return datasets
