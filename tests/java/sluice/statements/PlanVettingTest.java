package sluice.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.named;
import static sluice.fixtures.Plans.project;
import static sluice.fixtures.Plans.rows;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.Upper;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;

final class PlanVettingTest {

    private final Attribute text = column("s", DataTypes.StringType);
    private final LogicalPlan table = rows(List.of(text));

    @Test
    void whatIsListedIsAllowed() {
        assertNull(vetting("Project LocalRelation", "Alias AttributeReference Upper").refusedIn(upper()));
    }

    @Test
    void aNodeThatIsNotListedIsNamed() {
        assertEquals("LocalRelation", vetting("Project", "Alias AttributeReference Upper").refusedIn(upper()));
    }

    @Test
    void anExpressionThatIsNotListedIsNamed() {
        assertEquals("Upper", vetting("Project LocalRelation", "Alias AttributeReference").refusedIn(upper()));
    }

    @Test
    void aStreamIsRefused() {
        LogicalPlan stream = new LocalRelation(seq(List.of(text)), seq(List.of()), true, Option.empty());
        assertEquals("LocalRelation", vetting("LocalRelation", "AttributeReference").refusedIn(stream));
    }

    @Test
    void queriesInExpressionsAreLookedAt() {
        LogicalPlan plan = project(table, named("q", new ScalarSubquery(
            upper(),
            seq(List.of()),
            NamedExpression$.MODULE$.newExprId(),
            seq(List.of()),
            Option.empty(),
            Option.empty(),
            Option.empty())));
        assertEquals(
            "Upper", vetting("Project LocalRelation", "Alias AttributeReference ScalarSubquery").refusedIn(plan));
    }

    @Test
    void aCallOfAClassIsAllowedByTheBeginOfItsName() {
        LogicalPlan plan = project(table, named("c", call(Math.class)));
        String expressions = "Alias AttributeReference StaticInvoke";
        PlanVetting vetting = vetting("Project LocalRelation", expressions);
        assertEquals("java.lang.Math", vetting.refusedIn(plan));
        vetting.allow("Project LocalRelation", expressions, "sep", "java.util. java.lang.Ma");
        assertNull(vetting.refusedIn(plan));
    }

    private LogicalPlan upper() {
        return project(table, named("u", new Upper(text)));
    }

    private static StaticInvoke call(Class<?> owner) {
        return new StaticInvoke(
            owner, DataTypes.DoubleType, "random", seq(List.of()), seq(List.of()), true, true, true, Option.empty());
    }

    private static PlanVetting vetting(String nodes, String expressions) {
        PlanVetting vetting = new PlanVetting();
        vetting.allow(nodes, expressions, "sep", "org.apache.spark.");
        return vetting;
    }
}
