package sluice.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.fixtures.Plans.parsed;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ViewReaderTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        SELECT a FROM t                                        | true
        SELECT a FROM lake.shop.t                              | false
        SELECT a FROM s.t                                      | false
        SELECT 1                                               | false
        SELECT a FROM s.t WHERE b IN (SELECT c FROM u)         | true
        SELECT a FROM s.t JOIN (SELECT b FROM s.u LIMIT 1)     | false
        SELECT a FROM s.t UNION SELECT a FROM t                | true
        """)
    void aNameOfOnePartIsOpen(String sql, boolean expected) {
        assertEquals(expected, ViewReader.hasOpenNameIn(parsed(sql)));
    }
}
