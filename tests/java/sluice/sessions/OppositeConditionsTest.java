package sluice.sessions;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.seq;
import static sluice.sessions.OppositeConditions.isNeverTrue;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.Rand;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

final class OppositeConditionsTest {

    private static final Expression A = new BoundReference(0, DataTypes.IntegerType, true);
    private static final Expression B = new BoundReference(1, DataTypes.IntegerType, true);
    private static final Expression ONE = Literal.create(1, DataTypes.IntegerType);
    private static final Expression TWO = Literal.create(2, DataTypes.IntegerType);

    @Test
    void oppositesAreFoundWhereverTheyAre() {
        Expression between = new In(B, seq(List.of(ONE, TWO)));
        for (Expression[] pair : new Expression[][] {
            {new GreaterThan(A, ONE), new LessThanOrEqual(A, ONE)},
            {new GreaterThan(A, ONE), new GreaterThanOrEqual(ONE, A)},
            {new LessThan(A, ONE), new GreaterThanOrEqual(A, ONE)},
            {new In(A, seq(List.of(ONE, TWO))), new Not(new In(A, seq(List.of(TWO, ONE))))},
        }) {
            assertTrue(isNeverTrue(all(pair[0], pair[1])));
            assertTrue(isNeverTrue(all(new IsNotNull(A), pair[0], between, pair[1])));
            assertTrue(isNeverTrue(new And(pair[1], new And(between, pair[0]))));
        }
    }

    @Test
    void otherConditionsMayBeTrue() {
        assertFalse(isNeverTrue(new GreaterThan(A, ONE)));
        assertFalse(isNeverTrue(all(new GreaterThan(A, ONE), new LessThanOrEqual(B, ONE))));
        assertFalse(isNeverTrue(all(new GreaterThan(A, ONE), new LessThanOrEqual(A, TWO))));
        assertFalse(isNeverTrue(new Or(new GreaterThan(A, ONE), new LessThanOrEqual(A, ONE))));
    }

    @Test
    void twoCallsOfChanceAreNotOpposites() {
        Expression half = Literal.create(0.5, DataTypes.DoubleType);
        Expression chance = new Rand(Literal.create(1L, DataTypes.LongType), true);
        assertFalse(isNeverTrue(all(new GreaterThan(chance, half), new LessThanOrEqual(chance, half))));
    }

    @Test
    void thousandsOfConditionsFitTheStack() {
        Expression chain = new GreaterThan(A, ONE);
        for (int number = 0; number < 20_000; number++) {
            chain = new And(chain, new GreaterThan(B, Literal.create(number, DataTypes.IntegerType)));
        }
        assertTrue(isNeverTrue(new And(chain, new LessThanOrEqual(A, ONE))));
    }

    private static Expression all(Expression... conditions) {
        return List.of(conditions).stream().reduce(And::new).orElseThrow();
    }
}
