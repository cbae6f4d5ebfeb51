package sluice.results;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.json;
import static sluice.fixtures.Plans.literal;
import static sluice.fixtures.Plans.named;
import static sluice.fixtures.Plans.project;
import static sluice.fixtures.Plans.rows;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Murmur3Hash;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;

final class PlanLineageTest {

    private final Attribute number = column("n", DataTypes.IntegerType);
    private final Attribute text = column("s", DataTypes.StringType);
    private final LogicalPlan table = SubqueryAlias$.MODULE$.apply("t", rows(List.of(number, text)));

    @Test
    void aColumnIsItsOwnSource() {
        assertEquals("[[\"t\",\"n\",\"IDENTITY\",false]]", sources(project(table, number)));
        assertEquals("[[\"t\",\"n\",\"IDENTITY\",false]]", sources(project(table, named("m", number))));
    }

    @Test
    void aValueOfAColumnIsATransformation() {
        assertEquals(
            "[[\"t\",\"n\",\"TRANSFORMATION\",false]]",
            sources(project(table, named("m", new Add(number, literal(1))))));
    }

    @Test
    void aHashHidesItsColumn() {
        assertEquals(
            "[[\"t\",\"s\",\"TRANSFORMATION\",true]]",
            sources(project(table, named("m", new Murmur3Hash(seq(List.of(text)), 42)))));
    }

    @Test
    void aConditionOfAChoiceDecides() {
        Expression choice = new If(new GreaterThan(number, literal(1)), text, literal("other"));
        assertEquals(
            "[[\"t\",\"n\",\"CONDITIONAL\",false],[\"t\",\"s\",\"TRANSFORMATION\",false]]",
            sources(project(table, named("m", choice))));
    }

    @Test
    void aFilterAndAGroupDecideOnRows() {
        LogicalPlan filtered = new Filter(new GreaterThan(number, literal(1)), table);
        LogicalPlan grouped = new Aggregate(seq(List.of(text)), seq(List.of(text)), filtered, Option.empty());
        PlanLineage lineage = lineage(grouped);
        assertEquals(
            "[[\"t\",\"n\",\"FILTER\",false],[\"t\",\"s\",\"GROUP_BY\",false]]",
            json(lineage.sourcesOfRows().stream().map(SourceColumn::row).toList()));
    }

    @Test
    void aUnionHasTheSourcesOfAllBranches() {
        Attribute other = column("o", DataTypes.IntegerType);
        LogicalPlan second = SubqueryAlias$.MODULE$.apply("u", rows(List.of(other)));
        LogicalPlan union = new Union(seq(List.of(project(table, number), second)), false, false);
        assertEquals("[[\"t\",\"n\",\"IDENTITY\",false],[\"u\",\"o\",\"IDENTITY\",false]]", sources(union));
    }

    @Test
    void aPlanThatIsTooLargeIsNotRead() {
        Alias[] columns = new Alias[100_000];
        Arrays.setAll(columns, place -> named("c" + place, number));
        assertThrows(ColumnSources.TooLong.class, () -> lineage(project(table, columns)));
    }

    @Test
    void theStrongerOfTwoKindsStays() {
        assertEquals(SourceKind.WINDOW, SourceKind.WINDOW.or(SourceKind.IDENTITY));
        assertEquals(SourceKind.AGGREGATION, SourceKind.TRANSFORMATION.or(SourceKind.AGGREGATION));
        assertEquals(SourceKind.JOIN, SourceKind.JOIN.or(SourceKind.JOIN));
    }

    private static String sources(LogicalPlan plan) {
        Attribute first = list(plan.output()).get(0);
        return json(lineage(plan).sourcesOf(first).stream().map(SourceColumn::row).toList());
    }

    private static PlanLineage lineage(LogicalPlan plan) {
        PlanLineage lineage = new PlanLineage();
        lineage.visit(plan);
        return lineage;
    }
}
