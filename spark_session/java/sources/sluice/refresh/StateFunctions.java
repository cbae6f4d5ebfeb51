package sluice.refresh;

import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.classic.SparkSession;

/** The functions of states that Spark does not have. */
public final class StateFunctions {

    /** Lets the queries of one session call them by these names. */
    public void add(SparkSession session, String read, String merge, String estimate) {
        FunctionRegistry registry = session.sessionState().functionRegistry();
        add(registry, read, RegisterAggregate.Step.READ);
        add(registry, merge, RegisterAggregate.Step.MERGE);
        add(registry, estimate, RegisterAggregate.Step.ESTIMATE);
    }

    private static void add(FunctionRegistry registry, String name, RegisterAggregate.Step step) {
        registry.registerFunction(
            new FunctionIdentifier(name),
            new ExpressionInfo(RegisterAggregate.class.getName(), name),
            arguments -> RegisterAggregate.called(step, arguments));
    }
}
