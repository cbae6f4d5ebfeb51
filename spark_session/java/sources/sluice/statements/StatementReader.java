package sluice.statements;

import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Set;
import org.apache.spark.sql.catalyst.parser.ParserInterface;

/**
 * Lists the parts of a statement, as Spark's own parser reads it: the kinds of its plan nodes, including subqueries
 * and common table expressions; the names of the relations that it reads, with their options; the names of the
 * functions that it calls; and the calls and clauses whose values decide how much Spark makes of a small text.
 *
 * <p>It runs in the driver's JVM because walking a tree from Python costs a call per node, and because in the drawing
 * of a tree, a node cannot be distinguished from a string literal that looks like one.
 */
public final class StatementReader {

    private static final int DEEPEST_CALL = 10_000;
    private static final ObjectMapper MAPPER = mapper();

    /** Calls are nested as deep as CallReader.java reads them: deeper than Jackson writes by default. */
    private static ObjectMapper mapper() {
        ObjectMapper mapper = new ObjectMapper();
        mapper.getFactory().setStreamWriteConstraints(
            StreamWriteConstraints.builder().maxNestingDepth(DEEPEST_CALL).build());
        return mapper;
    }

    /**
     * Returns JSON: {"nodes": ["Project", …], "relations": [["lake", "tpcds", "item"], …], "options": [["branch",
     * "audit"], …], "functions": [["builtin", "sum"], …], "tableFunctions": [["range"], …], "formatOptions":
     * [["from_csv", "sep"], …], "calls": […], "strictCalls": […], "groupingSets": […], "recursionLevels": […], "positions": […]};
     * CallReader.java describes a call.
     *
     * <p>A function without a part of its name is named while the query is analyzed. So is an option that is null.
     * Calls are those of the named functions; strict ones are evaluated before the plan is complete.
     */
    public String read(ParserInterface parser, String sql, Set<String> functions) throws Exception {
        StatementParts parts = new StatementParts(parser, functions);
        parts.collect(parser.parsePlan(sql));
        return MAPPER.writeValueAsString(parts.found());
    }

    /**
     * Returns the largest number of columns in a CUBE of the text. Within GROUPING SETS, Spark's parser writes out
     * all its sets, so this is checked before the text is parsed.
     */
    public int largestCube(String sql) {
        return CubeSizes.largestIn(sql);
    }
}
