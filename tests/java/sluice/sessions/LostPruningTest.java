package sluice.sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.rows;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;

final class LostPruningTest {

    private final Attribute fact = column("f", DataTypes.LongType);
    private final Attribute first = column("a", DataTypes.LongType);
    private final Attribute second = column("b", DataTypes.LongType);
    private final LogicalPlan table = rows(List.of(fact));
    private final LogicalPlan keys = rows(List.of(first, second));

    @Test
    void aFilterThatIsMissingIsAddedAndReadsItsKeysFromTheOtherSide() {
        LogicalPlan found = LostPruning.filtered(table, new Filter(by(second, table), table), keys, new AllSpecs());
        Filter filter = (Filter) found;
        assertSame(table, filter.child());
        DynamicPruningSubquery added = (DynamicPruningSubquery) filter.condition();
        assertSame(keys, added.buildQuery());
        assertEquals(second, PruningFilters.keyOf(added));
    }

    @Test
    void aFilterThatIsKnownIsNotAdded() {
        LogicalPlan plan = new Filter(new And(new EqualTo(fact, fact), by(second, keys)), table);
        assertSame(plan, LostPruning.filtered(plan, new Filter(by(second, keys), plan), keys, new AllSpecs()));
    }

    @Test
    void filtersAreFoundWhereverTheyAreInACondition() {
        DynamicPruningSubquery one = by(first, keys);
        DynamicPruningSubquery other = by(second, keys);
        assertEquals(List.of(one, other), PruningFilters.in(new And(new And(one, new EqualTo(fact, fact)), other)));
    }

    private DynamicPruningSubquery by(Attribute key, LogicalPlan query) {
        int place = key == first ? 0 : 1;
        return new DynamicPruningSubquery(
            fact,
            query,
            seq(List.of(first, second)),
            seq(List.of((Object) place)),
            false,
            NamedExpression$.MODULE$.newExprId(),
            Option.empty());
    }
}
