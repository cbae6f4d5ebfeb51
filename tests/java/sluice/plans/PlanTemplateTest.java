package sluice.plans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;

import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.spark.TimeTravel;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.iceberg.types.Types;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Exists;
import org.apache.spark.sql.catalyst.expressions.Exists$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Nvl;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation$;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Option;
import sluice.fixtures.Plans;
import sluice.fixtures.Tables;
import sluice.relations.KnownRelation;

final class PlanTemplateTest {

    private static final Schema SCHEMA =
        new Schema(Types.NestedField.optional(1, "k", Types.IntegerType.get()));

    private final Table table = Tables.table(SCHEMA, PartitionSpec.unpartitioned());
    private final KnownRelation rows = KnownRelation.of(
        seq(List.of(column("k", DataTypes.LongType))), seq(List.of(InternalRow.fromSeq(seq(List.of((Object) 3L))))));

    PlanTemplateTest() {
        Tables.append(table, Tables.file(table, "", "1"));
    }

    @Test
    void aQueryGetsTheSamePlanWithTablesOfItsOwn() {
        LogicalPlan plan = filtered(pinned(table));
        PlanTemplate template = PlanTemplate.of(plan);
        LogicalPlan first = template.opened();
        LogicalPlan second = template.opened();
        assertEquals(plan, first);
        assertTrue(first.analyzed());
        assertEquals(tablesIn(plan), tablesIn(first));
        assertNotSame(tablesIn(first).get(0), tablesIn(second).get(0));
        assertNotSame(tablesIn(plan).get(0), tablesIn(first).get(0));
        assertNotSame(first, second);
        assertTrue(template.bytes() > 4096);
    }

    @Test
    void oneQueryAtATimeHasIt() {
        PlanTemplate template = PlanTemplate.of(filtered(pinned(table)));
        assertTrue(template.take());
        assertFalse(template.take());
        template.release();
        assertTrue(template.take());
    }

    @Test
    void tablesBelowSubqueriesAreFound() {
        LogicalPlan below = filtered(pinned(table));
        Exists exists = new Exists(
            below, Exists$.MODULE$.apply$default$2(), Exists$.MODULE$.apply$default$3(),
            Exists$.MODULE$.apply$default$4(), Exists$.MODULE$.apply$default$5());
        LogicalPlan plan = new Filter(exists, pinned(table));
        LogicalPlan found = PlanTemplate.of(plan).opened();
        assertEquals(plan, found);
        Exists inside = (Exists) ((Filter) found).condition();
        assertNotSame(tablesIn(below).get(0), tablesIn(inside.plan()).get(0));
    }

    /** Each has its argument twice, once for show: without end, if each place were visited. */
    @Test
    @Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void nestedFunctionsAreVisitedOnce() {
        DataSourceV2Relation relation = pinned(table);
        Expression nested = list(relation.output()).get(0);
        for (int level = 0; level < 60; level++) {
            nested = new Nvl(nested, literal(level));
        }
        PlanTemplate template = PlanTemplate.of(new Filter(new EqualTo(nested, literal(3)), relation));
        assertNotNull(template);
        assertTrue(template.bytes() < 1 << 20);
    }

    /** What is there for show would keep the tables of the query that made the plan. */
    @Test
    void aPlanThatHoldsATableForShowIsNotKept() {
        ScalarSubquery most = new ScalarSubquery(
            pinned(table), ScalarSubquery$.MODULE$.apply$default$2(), ScalarSubquery$.MODULE$.apply$default$3(),
            ScalarSubquery$.MODULE$.apply$default$4(), ScalarSubquery$.MODULE$.apply$default$5(),
            ScalarSubquery$.MODULE$.apply$default$6(), ScalarSubquery$.MODULE$.apply$default$7());
        LogicalPlan plan = new Filter(new EqualTo(new Nvl(most, literal(1)), literal(3)), pinned(table));
        assertNull(PlanTemplate.of(plan));
    }

    @Test
    void rowsStayWhereTheyAreKept() {
        LogicalPlan plan = new Filter(
            new EqualTo(list(rows.output()).get(0), literal(3L)),
            Plans.project(rows, list(rows.output()).get(0)));
        LogicalPlan both = Plans.project(joined(plan, pinned(table)), list(rows.output()).get(0));
        PlanTemplate template = PlanTemplate.of(both);
        KnownRelation found = rowsIn(template.opened());
        assertSame(rows.data(), found.data());
        assertEquals(rows.output(), found.output());
    }

    @Test
    void aTemplateWhoseRowsAreGoneIsOfNoUse() throws Exception {
        PlanTemplate template = PlanTemplate.of(joined(
            KnownRelation.of(seq(List.of(column("k", DataTypes.LongType))), seq(new ArrayList<InternalRow>())),
            pinned(table)));
        for (int round = 0; round < 50 && template.opened() != null; round++) {
            System.gc();
            Thread.sleep(20);
        }
        assertNull(template.opened());
    }

    @Test
    void theSetOfOtherQueriesIsNotShared() {
        LogicalPlan plan = filtered(pinned(table));
        plan.setTagValue(Dataset$.MODULE$.DATASET_ID_TAG(), new scala.collection.mutable.HashSet<>());
        LogicalPlan found = PlanTemplate.of(plan).opened();
        assertTrue(found.getTagValue(Dataset$.MODULE$.DATASET_ID_TAG()).isEmpty());
        assertTrue(plan.getTagValue(Dataset$.MODULE$.DATASET_ID_TAG()).isDefined());
    }

    @Test
    void whatIsNotPinnedIsNotKept() {
        assertNull(PlanTemplate.of(filtered(relation(new SparkTable(table)))));
        table.manageSnapshots().createBranch("dev").commit();
        assertNull(PlanTemplate.of(filtered(relation(SparkTable.create(table, "dev")))));
        assertNull(PlanTemplate.of(rows), "nothing says when these rows are out of date");
        assertNull(PlanTemplate.of(new OneRowRelation()));
        assertNotNull(PlanTemplate.of(filtered(pinned(table))));
    }

    private LogicalPlan filtered(DataSourceV2Relation relation) {
        return new Filter(new EqualTo(list(relation.output()).get(0), literal(3)), relation);
    }

    private static LogicalPlan joined(LogicalPlan left, LogicalPlan right) {
        return new org.apache.spark.sql.catalyst.plans.logical.Union(seq(List.of(left, right)), false, false);
    }

    private static DataSourceV2Relation pinned(Table table) {
        String snapshot = String.valueOf(table.currentSnapshot().snapshotId());
        return relation(SparkTable.create(table, TimeTravel.version(snapshot)));
    }

    private static DataSourceV2Relation relation(SparkTable table) {
        return DataSourceV2Relation$.MODULE$.create(table, Option.empty(), Option.empty());
    }

    private static List<org.apache.spark.sql.connector.catalog.Table> tablesIn(LogicalPlan plan) {
        return list(plan.collectLeaves()).stream()
            .filter(DataSourceV2Relation.class::isInstance)
            .map(leaf -> ((DataSourceV2Relation) leaf).table())
            .toList();
    }

    private static KnownRelation rowsIn(LogicalPlan plan) {
        return (KnownRelation) list(plan.collectLeaves()).stream()
            .filter(KnownRelation.class::isInstance)
            .findFirst()
            .orElseThrow();
    }
}
