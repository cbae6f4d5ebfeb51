package sluice.policies;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PolicyExpressionsTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        region = 'A'          | {"nodes":["EqualTo","UnresolvedAttribute","Literal"],"functions":[],"attributes":[["region"]]}
        upper(t.a) LIKE b.upper('x') | {"nodes":["Like","UnresolvedFunction","UnresolvedAttribute","Literal"],"functions":[["upper"],["b","upper"]],"attributes":[["t","a"]]}
        count(DISTINCT a) > 1 | {"nodes":["GreaterThan","Aggregate","UnresolvedFunction","UnresolvedAttribute","Literal"],"functions":[["count"]],"attributes":[["a"]]}
        a IN (SELECT 1)       | {"nodes":["InSubquery","UnresolvedAttribute","ListQuery","Project","UnresolvedAlias","Literal","OneRowRelation"],"functions":[],"attributes":[["a"]]}
        """)
    void anExpressionHasParts(String sql, String expected) throws Exception {
        assertEquals(expected, new PolicyExpressions().read(CatalystSqlParser$.MODULE$, sql));
    }
}
