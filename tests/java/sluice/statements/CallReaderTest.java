package sluice.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.fixtures.Plans.json;
import static sluice.fixtures.Plans.literal;
import static sluice.fixtures.Plans.parsed;
import static sluice.fixtures.Plans.parsedExpression;

import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Upper;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CallReaderTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        repeat('ab', 7)                 | {"f":"repeat","a":[{"b":2,"s":"ab"},{"n":7.0}]}
        system.builtin.REPEAT(x, 2)     | {"f":"repeat","a":[{},{"n":2.0}]}
        repeat('ab', :times)            | {"f":"repeat","a":[{"b":2,"s":"ab"},{"p":"times"}]}
        repeat('ab', ?)                 | {"f":"repeat","a":[{"b":2,"s":"ab"},{"at":13}]}
        transform(a, (X, y) -> X.z + 1) | {"f":"transform","a":[{},{"l":["x","y"],"a":[{"f":"add","a":[{"v":"x"},{"n":1.0}]}]}]}
        f(Length => 3)                  | {"f":"f","a":[{"k":"length","a":[{"n":3.0}]}]}
        f((SELECT 1), y)                | {"f":"f","a":[{},{}]}
        IDENTIFIER('a.`Space`')(4)      | {"f":"space","a":[{"n":4.0}]}
        IDENTIFIER(:name)(4)            | {"f":"identifier","a":[{"n":4.0}]}
        """)
    void aCallIsATree(String sql, String expected) {
        assertEquals(expected, json(CallReader.tree(parsedExpression(sql), 0)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        1.5                              | {"n":1.5}
        1e3                              | {"n":1000.0}
        X'0102'                          | {"b":2}
        DATE '1970-01-02'                | {"d":8.64E10}
        TIMESTAMP_NTZ '1970-01-01 00:00:01' | {"d":1000000.0}
        INTERVAL '2' DAY                 | {"i":1.728E11}
        INTERVAL '1' MONTH               | {"i":2.4192E12}
        '2 days'                         | {"b":6,"s":"2 days","i":1.728E11}
        NULL                             | {}
        true                             | {}
        """)
    void aLiteralIsItsValueOrItsSize(String sql, String expected) {
        assertEquals(expected, json(CallReader.tree(parsedExpression(sql), 0)));
    }

    @Test
    void aNumberThatIsNoneIsLeftOut() {
        assertEquals("{}", json(CallReader.tree(literal(Double.NaN), 0)));
        assertEquals("{}", json(CallReader.tree(literal(Double.POSITIVE_INFINITY), 0)));
    }

    @Test
    void onlyTheBeginOfALongTextIsRead() {
        String read = json(CallReader.tree(parsedExpression("'" + "é".repeat(300) + "'"), 0));
        assertEquals("{\"b\":600,\"s\":\"" + "é".repeat(200) + "\"}", read);
    }

    @Test
    void aTreeIsCutWhereItIsTooDeep() {
        Expression nested = literal(1);
        for (int i = 0; i < 300; i++) {
            nested = new Upper(nested);
        }
        String read = json(CallReader.tree(nested, 0));
        assertEquals(200, read.split("upper", -1).length - 1);
        assertTrue(read.contains("{}"));
        assertFalse(read.contains("\"n\""));
    }

    @Test
    void aFunctionInThePlaceOfATableIsACall() {
        LogicalPlan node = parsed("SELECT * FROM Range(1, 9)");
        while (!(node instanceof UnresolvedTableValuedFunction)) {
            node = ((UnaryNode) node).child();
        }
        assertEquals(
            "{\"f\":\"range\",\"a\":[{\"n\":1.0},{\"n\":9.0}]}",
            json(CallReader.tableFunction((UnresolvedTableValuedFunction) node)));
    }

    @Test
    void aGeneratorHasItsOwnName() {
        assertEquals("explode", CallReader.nameOf(parsedExpression("EXPLODE(a)")));
        assertEquals("add", CallReader.nameOf(parsedExpression("a + 1")));
    }
}
