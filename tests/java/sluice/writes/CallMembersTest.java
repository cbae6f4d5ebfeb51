package sluice.writes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CallMembersTest {

    private static LogicalPlan parsed(String sql) throws Exception {
        return CatalystSqlParser$.MODULE$.parsePlan(sql);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        table => 'shop.item' | [{"name":"table","kind":"text","value":"shop.item"}]
        keep => 7, all => true | [{"name":"keep","kind":"number","value":7},{"name":"all","kind":"boolean","value":true}]
        t => TIMESTAMP '1970-01-01 00:00:01 UTC' | [{"name":"t","kind":"moment","value":1000000}]
        'item' | [{"name":null,"kind":"text","value":"item"}]
        x => upper('a'), y => -1, z => NULL | [{"name":"x","kind":"other"},{"name":"y","kind":"number","value":-1},{"name":"z","kind":"other"}]
        x => 1.5, y => DATE '2026-01-01', z => :p | [{"name":"x","kind":"other"},{"name":"y","kind":"other"},{"name":"z","kind":"other"}]
        """)
    void argumentsAreLiterals(String arguments, String expected) throws Exception {
        LogicalPlan plan = parsed("CALL lake.system.expire_snapshots(" + arguments + ")");
        assertEquals(expected, new ObjectMapper().writeValueAsString(CallMembers.argumentsOf(plan)));
    }

    @Test
    void aCallHasTheNameOfItsProcedureAndTable() throws Exception {
        LogicalPlan plan = parsed("CALL Lake.system.run(x => 1, Table => 'a.`b.c`')");
        assertEquals("[Lake, system, run]", CallMembers.procedureOf(plan).toString());
        assertEquals("[a, b.c]", CallMembers.tableOf(CatalystSqlParser$.MODULE$, plan).toString());
        assertNull(CallMembers.procedureOf(parsed("SELECT 1")));
    }

    @ParameterizedTest
    @CsvSource({"x => 1", "table => 1", "table => 'a b c'", "table => ''"})
    void withoutANameThereIsNoTable(String arguments) throws Exception {
        LogicalPlan plan = parsed("CALL lake.system.run(" + arguments + ")");
        assertNull(CallMembers.tableOf(CatalystSqlParser$.MODULE$, plan));
    }
}
