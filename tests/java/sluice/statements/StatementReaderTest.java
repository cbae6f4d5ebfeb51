package sluice.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Set;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class StatementReaderTest {

    private static final Set<String> LISTED = Set.of("repeat", "space", "range");

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        nodes | SELECT a FROM t | ["Project","UnresolvedRelation"]
        nodes | SELECT * FROM STREAM t | ["Project","UnresolvedRelation","STREAM"]
        nodes | SELECT * FROM t TIMESTAMP AS OF (SELECT now()) | ["Project","RelationTimeTravel","TIMESTAMP AS OF (SELECT)","UnresolvedRelation","OneRowRelation"]
        relations | WITH c AS (SELECT * FROM lake.a) SELECT * FROM c WHERE x IN (SELECT y FROM lake.shop.b) | [["lake","shop","b"],["c"],["lake","a"]]
        options | SELECT * FROM t WITH ('Branch' = 'audit') | [["branch","audit"]]
        functions | SELECT builtin.sum(a), upper(b), upper(c), explode(d) FROM t | [["builtin","sum"],["upper"],["explode"]]
        functions | SELECT IDENTIFIER('f.g')(1), IDENTIFIER(:x)(1) FROM t | [["f","g"],[""]]
        tableFunctions | SELECT * FROM Range(3) | [["Range"]]
        formatOptions | SELECT from_csv(a, 'b', map('sep', ';', c, 'x')), to_json(a, m), to_csv(a) | [["from_csv","sep"],["from_csv",null],["to_json",null]]
        calls | SELECT repeat(space(2), 3) FROM range(4) | [{"f":"repeat","a":[{"f":"space","a":[{"n":2.0}]},{"n":3.0}]},{"f":"range","a":[{"n":4.0}]}]
        calls | SELECT upper(repeat(a, (SELECT space(1)))) | [{"f":"repeat","a":[{},{}]},{"f":"space","a":[{"n":1.0}]}]
        strictCalls | VALUES (upper(repeat('a', 3))) | [{"f":"repeat","a":[{"b":1,"s":"a"},{"n":3.0}]}]
        strictCalls | SELECT a FROM t LIMIT length(space(2)) | [{"f":"space","a":[{"n":2.0}]},{"f":"space","a":[{"n":2.0}]}]
        strictCalls | SELECT repeat(a, 2) FROM t | []
        groupingSets | SELECT 1 FROM t GROUP BY CUBE (a, b), ROLLUP (c, d) | [12.0]
        groupingSets | SELECT 1 FROM t GROUP BY GROUPING SETS ((a), (b), ()) | [3.0]
        recursionLevels | WITH RECURSIVE r MAX RECURSION LEVEL 7 AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r | [7]
        positions | SELECT ?, a FROM t WHERE b = ? | [7,29]
        """)
    void aStatementHasParts(String part, String sql, String expected) throws Exception {
        String read = new StatementReader().read(CatalystSqlParser$.MODULE$, sql, LISTED);
        JsonNode found = new ObjectMapper().readTree(read).get(part);
        assertEquals(expected, found.toString());
    }
}
