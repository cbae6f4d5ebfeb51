package sluice.scans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

final class PlannedScansTest {

    @Test
    void onlyTheFirstOfManyColumnsAreTold() {
        StructType read = new StructType();
        for (int i = 0; i < 300; i++) {
            read = read.add("c" + i, DataTypes.LongType);
        }
        List<String> told = PlannedScans.columnsOf(read);
        assertEquals(200, told.size());
        assertEquals("c199", told.get(199));
        assertEquals(List.of("a"), PlannedScans.columnsOf(new StructType().add("a", DataTypes.LongType)));
    }

    @Test
    void aFilterWithKeysPrunesAtRuntime() {
        DynamicPruningExpression keys = new DynamicPruningExpression(column("k", DataTypes.BooleanType));
        DynamicPruningExpression none = new DynamicPruningExpression(literal(true));
        assertTrue(PlannedScans.isPrunedAtRuntime(seq(List.of(literal(true), none, keys))));
        assertFalse(PlannedScans.isPrunedAtRuntime(seq(List.of(literal(true), none))));
    }
}
