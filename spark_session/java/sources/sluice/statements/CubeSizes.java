package sluice.statements;

import java.util.ArrayDeque;
import java.util.Deque;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.Token;
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer;
import org.apache.spark.sql.catalyst.parser.UpperCaseCharStream;

/** Counts the columns of each CUBE in a text. */
final class CubeSizes {

    private final Deque<Cube> open = new ArrayDeque<>();
    private int depth = 0;
    private int largest = 0;

    /** A CUBE whose parenthesis at this depth is open. */
    private static final class Cube {
        private final int depth;
        private int columns = 1;

        Cube(int depth) {
            this.depth = depth;
        }
    }

    private CubeSizes() {}

    /** Returns the largest number of columns in a CUBE of the text; 0: it has none. */
    static int largestIn(String sql) {
        SqlBaseLexer lexer = new SqlBaseLexer(new UpperCaseCharStream(CharStreams.fromString(sql)));
        lexer.removeErrorListeners();
        CubeSizes sizes = new CubeSizes();
        boolean isAfterCube = false;
        for (Token token = lexer.nextToken(); token.getType() != Token.EOF; token = lexer.nextToken()) {
            if (token.getChannel() == Token.DEFAULT_CHANNEL) {
                sizes.take(token.getType(), isAfterCube);
                isAfterCube = token.getType() == SqlBaseLexer.CUBE;
            }
        }
        return sizes.largest;
    }

    private void take(int type, boolean isAfterCube) {
        if (type == SqlBaseLexer.LEFT_PAREN) {
            depth++;
            if (isAfterCube) {
                open.push(new Cube(depth));
            }
        } else if (!open.isEmpty() && depth == open.peek().depth) {
            if (type == SqlBaseLexer.COMMA) {
                open.peek().columns++;
            } else if (type == SqlBaseLexer.RIGHT_PAREN) {
                largest = Math.max(largest, open.pop().columns);
            }
        }
        if (type == SqlBaseLexer.RIGHT_PAREN) {
            depth--;
        }
    }
}
