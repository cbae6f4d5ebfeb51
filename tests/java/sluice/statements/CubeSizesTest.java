package sluice.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CubeSizesTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        SELECT 1                                                        | 0
        SELECT cube FROM t                                              | 0
        SELECT a FROM t GROUP BY CUBE (a, b, c)                         | 3
        SELECT a FROM t GROUP BY cube /* ( , ) */ (a, f(b, c, d))       | 2
        SELECT a FROM t GROUP BY CUBE (a), CUBE (a, b, c, d), ROLLUP (a, b, c, d, e) | 4
        SELECT a FROM t GROUP BY GROUPING SETS (CUBE (a, b), (a, b, c)) | 2
        SELECT 'CUBE (a, b, c)' FROM t GROUP BY CUBE (a, (b, c))        | 2
        SELECT a FROM t GROUP BY CUBE (a, (SELECT b FROM u GROUP BY CUBE (c, d, e))) | 3
        SELECT a FROM t GROUP BY CUBE (a, b                             | 0
        """)
    void theColumnsOfTheLargestCubeAreCounted(String sql, int expected) {
        assertEquals(expected, new StatementReader().largestCube(sql));
    }
}
