package sluice.manifests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static sluice.collections.Lists.list;
import static sluice.manifests.ScannedTables.file;
import static sluice.manifests.ScannedTables.table;

import java.util.Random;
import org.apache.iceberg.Table;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation$;
import org.apache.spark.sql.internal.SQLConf;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Option;
import sluice.fixtures.Plans;

final class CachedTablesTest {

    private final ManifestCache cache = new ManifestCache();
    private final CachedTables rule = new CachedTables(cache);

    @BeforeEach
    void bound() {
        cache.keepAtMost(1 << 20);
    }

    @Test
    void cometFindsTheMetadataOfSuchTables() throws NoSuchMethodException {
        // It asks the class itself. Without the method, it leaves all scans from memory to Spark.
        assertEquals(CachedTable.class, CachedTable.class.getDeclaredMethod("operations").getDeclaringClass());
    }

    @Test
    void aTableKeepsItsNameItsColumnsAndItsSnapshot() {
        Table table = table(2);
        table.newAppend().appendFile(file(table, new Random(1), "1")).commit();
        table.manageSnapshots().createBranch("dev").commit();
        DataSourceV2Relation relation = relation(SparkTable.create(table, "dev"));
        table.newAppend().appendFile(file(table, new Random(2), "2")).commit();
        DataSourceV2Relation found = assertInstanceOf(DataSourceV2Relation.class, rule.apply(relation));
        SparkTable before = (SparkTable) relation.table();
        SparkTable after = assertInstanceOf(SparkTable.class, found.table());
        assertInstanceOf(CachedTable.class, after.table());
        assertEquals(before, after);
        assertEquals(before.name(), after.name());
        assertEquals(before.snapshotId(), after.snapshotId());
        assertEquals(before.branch(), after.branch());
        assertEquals(before.schema(), after.schema());
        assertEquals(relation.output(), found.output());
        assertSame(found, rule.apply(found));
    }

    @Test
    void aTableBelowOtherNodesIsReplacedToo() {
        DataSourceV2Relation relation = relation(new SparkTable(table(2)));
        LogicalPlan found = rule.apply(Plans.project(relation, list(relation.output()).get(0)));
        DataSourceV2Relation below = assertInstanceOf(DataSourceV2Relation.class, list(found.children()).get(0));
        assertInstanceOf(CachedTable.class, ((SparkTable) below.table()).table());
    }

    @Test
    void otherTablesAndCommandsStayAsTheyAre() {
        DataSourceV2Relation later = relation(new SparkTable(table(4)));
        assertSame(later, rule.apply(later));
        DataSourceV2Relation relation = relation(new SparkTable(table(2)));
        LogicalPlan write = AppendData.byPosition(
            relation, relation(new SparkTable(table(2))), scala.collection.immutable.Map$.MODULE$.empty());
        assertSame(write, rule.apply(write));
    }

    @Test
    void aSessionMaySwitchItOff() {
        DataSourceV2Relation relation = relation(new SparkTable(table(2)));
        SQLConf conf = new SQLConf();
        conf.setConfString(CachedTables.SWITCH, "false");
        LogicalPlan found = SQLConf.withExistingConf(conf, () -> rule.apply(relation));
        assertSame(relation, found);
        assertFalse(rule.apply(relation) == relation);
    }

    private static DataSourceV2Relation relation(SparkTable table) {
        return DataSourceV2Relation$.MODULE$.create(table, Option.empty(), Option.empty());
    }
}
