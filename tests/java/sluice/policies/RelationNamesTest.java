package sluice.policies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.rows;

import java.util.List;
import org.apache.spark.sql.catalyst.AliasIdentifier;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

final class RelationNamesTest {

    private final LogicalPlan table = rows(List.of(column("n", DataTypes.IntegerType)));

    @Test
    void anAliasWithACatalogAndASchemaIsAView() {
        assertEquals(List.of("lake", "shop", "V"), RelationNames.viewOf(alias("V", "lake", "shop")));
    }

    @Test
    void anAliasOfATextIsNoView() {
        assertNull(RelationNames.viewOf(alias("v")));
        assertNull(RelationNames.viewOf(alias("v", "shop")));
    }

    @Test
    void otherNodesHaveNoNames() {
        assertNull(RelationNames.viewOf(table));
        assertNull(RelationNames.nameOf(table));
        assertNull(RelationNames.metadataOf(table));
        assertEquals(List.of("a"), RelationNames.identifiedBy(table, List.of("a")));
    }

    @Test
    void policiesCompareNamesInLowerCase() {
        assertEquals(List.of("lake", "süd", "i"), RelationNames.inLowerCase(List.of("Lake", "SÜD", "I")));
    }

    private SubqueryAlias alias(String name, String... qualifier) {
        return new SubqueryAlias(new AliasIdentifier(name, seq(List.of(qualifier))), table);
    }
}
