import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;

/**
 * Does by JDBC what lines of the standard input say, and answers each with one line: an equals sign, milliseconds, the
 * number of rows, and a sum over all values that does not depend on the order of rows.
 *
 * <p>Fields of a line are divided by tabs:
 *
 * <ul>
 *   <li>{@code open URL name password} opens a connection; the first has the number 0.
 *   <li>{@code run number statement} runs a statement without reading anything.
 *   <li>{@code read number rows query} reads a result by typed getters, with so many rows a fetch.
 *   <li>{@code once URL name password query} opens a connection, reads a result, and closes the connection.
 * </ul>
 */
public final class JdbcReader {
  private static final List<Connection> CONNECTIONS = new ArrayList<>();

  private record Read(long rows, long sum) {}

  private JdbcReader() {}

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String line;
    while ((line = lines.readLine()) != null) {
      String answer;
      try {
        long began = System.nanoTime();
        Read read = answered(line.split("\t"));
        answer = (System.nanoTime() - began) / 1e6 + " " + read.rows + " " + read.sum;
      } catch (Throwable error) {
        answer = "FAILED " + error.toString().replace('\n', ' ');
      }
      System.out.println("= " + answer);
      System.out.flush();
    }
    // Drivers may leave threads behind.
    System.exit(0);
  }

  private static Read answered(String[] asked) throws SQLException {
    switch (asked[0]) {
      case "open":
        CONNECTIONS.add(DriverManager.getConnection(asked[1], asked[2], asked[3]));
        return new Read(0, 0);
      case "run":
        try (Statement statement = CONNECTIONS.get(Integer.parseInt(asked[1])).createStatement()) {
          statement.execute(asked[2]);
        }
        return new Read(0, 0);
      case "read":
        return read(CONNECTIONS.get(Integer.parseInt(asked[1])), Integer.parseInt(asked[2]), asked[3]);
      case "once":
        try (Connection connection = DriverManager.getConnection(asked[1], asked[2], asked[3])) {
          return read(connection, 0, asked[4]);
        }
      default:
        throw new IllegalArgumentException(asked[0]);
    }
  }

  private static Read read(Connection connection, int fetchRows, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      if (fetchRows > 0) {
        statement.setFetchSize(fetchRows);
      }
      try (ResultSet result = statement.executeQuery(sql)) {
        ResultSetMetaData columns = result.getMetaData();
        int[] types = new int[columns.getColumnCount()];
        for (int index = 0; index < types.length; index++) {
          types[index] = columns.getColumnType(index + 1);
        }
        long rows = 0;
        long sum = 0;
        while (result.next()) {
          long row = 0;
          for (int index = 0; index < types.length; index++) {
            row = 31 * row + value(result, index + 1, types[index]);
          }
          rows++;
          sum += row;
        }
        return new Read(rows, sum);
      }
    }
  }

  /** Reads a value by the getter of its type, and returns a number that differs by the value. */
  private static long value(ResultSet result, int index, int type) throws SQLException {
    switch (type) {
      case Types.BOOLEAN:
      case Types.BIT:
        return result.getBoolean(index) ? 1 : 2;
      case Types.TINYINT:
      case Types.SMALLINT:
      case Types.INTEGER:
        return result.getInt(index);
      case Types.BIGINT:
        return result.getLong(index);
      case Types.FLOAT:
      case Types.REAL:
      case Types.DOUBLE:
        return Double.doubleToLongBits(result.getDouble(index));
      case Types.DECIMAL:
      case Types.NUMERIC:
        BigDecimal decimal = result.getBigDecimal(index);
        return decimal == null ? 3 : Double.doubleToLongBits(decimal.doubleValue());
      case Types.DATE:
        Date date = result.getDate(index);
        return date == null ? 5 : date.getTime();
      case Types.TIMESTAMP:
        Timestamp moment = result.getTimestamp(index);
        return moment == null ? 7 : moment.getTime() + moment.getNanos();
      default:
        String text = result.getString(index);
        return text == null ? 11 : text.hashCode();
    }
  }
}
