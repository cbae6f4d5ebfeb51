package sluice.relations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import sluice.statements.PlanVetting;

final class KnownRelationTest {

    private final Attribute key = column("k", DataTypes.LongType);
    private final Seq<InternalRow> rows = rows(5);
    private final KnownRelation relation = KnownRelation.of(seq(List.of(key)), rows);

    @Test
    void aRuleThatChangesAColumnLeavesTheRows() {
        Attribute other = column("other", DataTypes.LongType);
        LogicalPlan changed = relation.mapExpressions(to(key, other));
        assertEquals(KnownRelation.class, changed.getClass());
        assertEquals(List.of(other), list(changed.output()));
        assertSame(rows, ((LocalRelation) changed).data());
    }

    @Test
    void aRuleThatChangesNothingGivesTheSameRelation() {
        assertSame(relation, relation.mapExpressions(to(key, key)));
        assertEquals(List.of(key), list(relation.expressions()));
    }

    @Test
    void anotherNumberForItsColumnLeavesTheRows() {
        KnownRelation other = relation.renumbered();
        assertNotEquals(list(relation.output()), list(other.output()));
        assertSame(rows, other.data());
        assertTrue(relation.sameResult(other));
        assertFalse(relation.sameResult(KnownRelation.of(seq(List.of(key)), rows(6))));
    }

    @Test
    void sparkReadsItAsItsOwn() {
        LogicalPlan asked = new Filter(new EqualTo(key, literal(3L)), relation);
        LocalRelation found = (LocalRelation) ConvertToLocalRelation$.MODULE$.apply(asked);
        assertEquals(List.of(3L), list(found.data()).stream().map(row -> row.getLong(0)).toList());
        LogicalPlan plain = new LocalRelation(seq(List.of(key)), rows, false, Option.empty());
        assertEquals(plain.stats().sizeInBytes(), relation.stats().sizeInBytes());
        assertEquals(plain.maxRows(), relation.maxRows());
        assertEquals(plain.toString(), relation.toString());
        assertEquals("LocalRelation", PlanVetting.nameOf(relation));
    }

    private static AbstractFunction1<Expression, Expression> to(Expression from, Expression other) {
        return new AbstractFunction1<>() {
            @Override
            public Expression apply(Expression found) {
                return found.equals(from) ? other : found;
            }
        };
    }

    private static Seq<InternalRow> rows(int count) {
        List<InternalRow> all = new ArrayList<>();
        for (long at = 0; at < count; at++) {
            all.add(InternalRow.fromSeq(seq(List.of((Object) at))));
        }
        return seq(all);
    }
}
