package sluice.sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.rows;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;

final class KeyPlansTest {

    private final Attribute fact = column("f", DataTypes.LongType);
    private final Attribute dimension = column("d", DataTypes.LongType);
    private final Attribute outer = column("o", DataTypes.LongType);
    private final LogicalPlan facts = rows(List.of(fact));
    private final LogicalPlan dimensions = rows(List.of(dimension));
    private final LogicalPlan others = rows(List.of(outer));

    @Test
    void keysAreReadWithTheFiltersThatTheOtherSideGotLater() {
        LogicalPlan pruned = new Filter(by(dimension, outer, others), dimensions);
        Join found = KeyPlans.ofSides(join(Inner$.MODULE$, new Filter(by(fact, dimension, dimensions), facts), pruned));
        assertEquals(pruned, keysOf(found.left()));
        assertSame(pruned, found.right());
    }

    @Test
    void aJoinWithoutFiltersStaysTheSame() {
        Join plan = join(Inner$.MODULE$, facts, new Filter(by(dimension, outer, others), dimensions));
        assertSame(plan, KeyPlans.ofSides(plan));
    }

    @Test
    void keysInPlansForKeysAreReadFromTheSideToo() {
        LogicalPlan keys = new Filter(by(dimension, outer, others), dimensions);
        LogicalPlan changed = new Filter(new EqualTo(outer, outer), others);
        Join found = KeyPlans.ofSides(join(Inner$.MODULE$, new Filter(by(fact, dimension, keys), facts), changed));
        assertEquals(changed, keysOf(keysOf(found.left())));
    }

    @Test
    void ofTwoSidesThatPruneEachOtherTheOneThatCanBeBroadcastIsReadUnpruned() {
        LogicalPlan left = new Filter(by(fact, dimension, dimensions), facts);
        LogicalPlan right = new Filter(by(dimension, fact, facts), dimensions);
        Join inner = KeyPlans.ofSides(join(Inner$.MODULE$, left, right));
        assertEquals(0, filtersIn(keysOf(inner.left())));
        assertEquals(inner.left(), keysOf(inner.right()));
        Join outerJoin = KeyPlans.ofSides(join(RightOuter$.MODULE$, left, right));
        assertEquals(0, filtersIn(keysOf(outerJoin.right())));
        assertEquals(outerJoin.right(), keysOf(outerJoin.left()));
    }

    @Test
    void aSecondPassChangesNothing() {
        LogicalPlan left = new Filter(by(fact, dimension, dimensions), facts);
        LogicalPlan right = new Filter(by(dimension, fact, facts), dimensions);
        Join once = KeyPlans.ofSides(join(Inner$.MODULE$, left, right));
        assertEquals(once, KeyPlans.ofSides(once));
    }

    private static Join join(JoinType type, LogicalPlan left, LogicalPlan right) {
        return new Join(left, right, type, Option.empty(), JoinHint.NONE());
    }

    private static LogicalPlan keysOf(LogicalPlan filter) {
        return PruningFilters.in(((Filter) filter).condition()).get(0).buildQuery();
    }

    private static int filtersIn(LogicalPlan filter) {
        return PruningFilters.in(((Filter) filter).condition()).size();
    }

    private static DynamicPruningSubquery by(Attribute pruned, Attribute key, LogicalPlan query) {
        return new DynamicPruningSubquery(
            pruned,
            query,
            seq(List.of(key)),
            seq(List.of((Object) 0)),
            false,
            NamedExpression$.MODULE$.newExprId(),
            Option.empty());
    }
}
