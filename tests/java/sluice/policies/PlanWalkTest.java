package sluice.policies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;
import static sluice.fixtures.Plans.named;
import static sluice.fixtures.Plans.project;
import static sluice.fixtures.Plans.rows;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Exists;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;

final class PlanWalkTest {

    private final Attribute number = column("n", DataTypes.IntegerType);
    private final LogicalPlan table = rows(List.of(number));

    @Test
    void everyPlanIsVisitedWithTheViewsAroundIt() {
        LogicalPlan inner = view("inner", project(table, named("i", literal(1))));
        LogicalPlan outer = view("outer", project(inner, named("o", literal(2))));
        List<String> visited = visited(project(outer, named("q", literal(3))));
        assertEquals(
            List.of(
                "Project []", "SubqueryAlias []", "Project [[outer]]", "SubqueryAlias [[outer]]",
                "Project [[outer], [inner]]", "LocalRelation [[outer], [inner]]"),
            visited);
    }

    @Test
    void queriesInExpressionsAreVisited() {
        Exists exists = new Exists(
            view("inner", table), seq(List.of()), NamedExpression$.MODULE$.newExprId(), seq(List.of()),
            Option.empty());
        assertEquals(
            List.of("Filter []", "SubqueryAlias []", "LocalRelation [[inner]]", "LocalRelation []"),
            visited(new Filter(exists, table)));
    }

    private static SubqueryAlias view(String name, LogicalPlan plan) {
        return SubqueryAlias$.MODULE$.apply(name, plan);
    }

    private static List<String> visited(LogicalPlan plan) {
        List<String> visited = new ArrayList<>();
        new PlanWalk() {
            @Override
            protected void visit(LogicalPlan node) {
                visited.add(node.getClass().getSimpleName() + " " + path());
            }

            @Override
            protected List<String> viewOf(LogicalPlan node) {
                return node instanceof SubqueryAlias alias ? List.of(alias.alias()) : null;
            }
        }.collect(plan);
        return visited;
    }
}
