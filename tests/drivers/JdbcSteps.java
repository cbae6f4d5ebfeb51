import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;

/**
 * Steps of a JDBC program, which are the same for each driver. Each prints one line: OK or FAILED, its name, and what
 * it saw.
 *
 * <p>Arguments: the URL, the name and the password. A fourth one names the only steps to run, divided by commas;
 * after a minus, those to leave out.
 */
public final class JdbcSteps {
  private static final String ENDLESS = "SELECT sum(hash(id)) AS s FROM range(0, 1000000000000, 1, 1)";

  private interface Step {
    Object run() throws Exception;
  }

  private JdbcSteps() {}

  private static String chosen = "";

  private static void step(String name, Step step) {
    boolean isOut = chosen.startsWith("-");
    boolean isNamed = ("," + (isOut ? chosen.substring(1) : chosen) + ",").contains("," + name + ",");
    if (!chosen.isEmpty() && isNamed == isOut) {
      return;
    }
    try {
      System.out.println("OK " + name + " | " + oneLine(String.valueOf(step.run())));
    } catch (Throwable error) {
      System.out.println("FAILED " + name + " | " + oneLine(state(error) + error));
    }
  }

  private static String state(Throwable error) {
    return error instanceof SQLException failed ? failed.getSQLState() + " " : "";
  }

  private static String oneLine(String text) {
    String line = text.replace('\n', ' ');
    return line.length() > 4_000 ? line.substring(0, 4_000) : line;
  }

  private static String rows(ResultSet result) throws Exception {
    ResultSetMetaData columns = result.getMetaData();
    StringBuilder text = new StringBuilder();
    while (result.next()) {
      for (int index = 1; index <= columns.getColumnCount(); index++) {
        text.append(index == 1 ? "[" : ", ").append(result.getObject(index));
      }
      text.append("]");
    }
    result.close();
    return text.toString();
  }

  private static String query(Connection connection, String sql) throws Exception {
    try (Statement statement = connection.createStatement()) {
      return rows(statement.executeQuery(sql));
    }
  }

  private static String columnsOf(ResultSet result) throws Exception {
    StringBuilder text = new StringBuilder();
    while (result.next()) {
      text.append("[").append(result.getString("COLUMN_NAME")).append(", ").append(result.getInt("DATA_TYPE"))
          .append(", ").append(result.getString("TYPE_NAME")).append(", ").append(result.getInt("ORDINAL_POSITION"))
          .append("]");
    }
    result.close();
    return text.toString();
  }

  /** Returns for each column of each row: its name, its types, and its value as an object and as a text. */
  private static String typesOf(ResultSet result) throws Exception {
    ResultSetMetaData columns = result.getMetaData();
    StringBuilder text = new StringBuilder();
    while (result.next()) {
      for (int index = 1; index <= columns.getColumnCount(); index++) {
        text.append("[").append(columns.getColumnLabel(index)).append(", ").append(columns.getColumnType(index))
            .append(", ").append(columns.getPrecision(index)).append(", ").append(columns.getScale(index))
            .append(", ").append(value(result, index)).append("]");
      }
    }
    result.close();
    return text.toString();
  }

  private static String value(ResultSet result, int index) {
    try {
      Object object = result.getObject(index);
      String kind = object == null ? "null" : object.getClass().getSimpleName();
      String shown = object instanceof byte[] bytes ? java.util.Arrays.toString(bytes) : String.valueOf(object);
      return kind + " " + shown + (result.wasNull() ? " null" : "");
    } catch (Exception error) {
      return "FAILED " + error;
    }
  }

  /** Prints how many rows there are, the sum of the first column, and the lengths of the second one. */
  private static String sums(ResultSet result) throws Exception {
    long count = 0;
    long sum = 0;
    long length = 0;
    while (result.next()) {
      count++;
      sum += result.getLong(1);
      length += result.getString(2).length();
    }
    result.close();
    return count + " " + sum + " " + length;
  }

  public static void main(String[] arguments) throws Exception {
    chosen = arguments.length > 3 ? arguments[3] : "";
    Connection connection;
    try {
      connection = DriverManager.getConnection(arguments[0], arguments[1], arguments[2]);
      connection.isValid(60);
    } catch (SQLException error) {
      System.out.println("FAILED connect | " + oneLine(state(error) + error));
      System.exit(0);
      return;
    }
    System.out.println("OK connect | ");
    DatabaseMetaData metadata = connection.getMetaData();
    step("product", metadata::getDatabaseProductName);
    step("read only", metadata::isReadOnly);
    step("quote", metadata::getIdentifierQuoteString);
    step("keywords", metadata::getSQLKeywords);
    step("catalogs", () -> rows(metadata.getCatalogs()));
    step("schemas", () -> rows(metadata.getSchemas("lake", "%")));
    step("types of tables", () -> rows(metadata.getTableTypes()));
    step("tables", () -> rows(metadata.getTables("lake", "shop", "%", new String[] {"TABLE"})));
    step("columns", () -> rows(metadata.getColumns("lake", "shop", "sales", "%")));
    step("columns of every type", () -> columnsOf(metadata.getColumns("lake", "shop", "every_type", "%")));
    step("columns by patterns", () -> columnsOf(metadata.getColumns("lake", "sh_p", "cal%", "day%")));
    step("escaped pattern", () -> rows(metadata.getTables("lake", "shop\\_archive", "sales\\_%", null)));
    step("no tables", () -> rows(metadata.getTables("lake", "shop", "calendar' OR 1=1", null)));
    step("exported keys", () -> rows(metadata.getExportedKeys("lake", "shop", "sales")));
    step("primary keys", () -> rows(metadata.getPrimaryKeys("lake", "shop", "sales")));
    step("imported keys", () -> rows(metadata.getImportedKeys("lake", "shop", "sales")));
    step("types", () -> rows(metadata.getTypeInfo()));
    step("valid", () -> connection.isValid(30));
    step("select", () -> query(connection, "SELECT month, count(*) AS n FROM calendar GROUP BY 1 ORDER BY 1"));
    step("scalars", () -> query(connection,
        "SELECT 1Y, 2S, 3, 4L, 1.5F, 2.5D, 1.50BD, true, 'a', DATE'2000-01-02', X'0A', CAST(NULL AS INT)"));
    step("moments", () -> query(connection,
        "SELECT TIMESTAMP'2024-07-01 12:00:00Z' AS a, TIMESTAMP_NTZ'2024-07-01 12:00:00' AS b"));
    step("every type", () -> {
      try (Statement statement = connection.createStatement()) {
        return typesOf(statement.executeQuery("SELECT true AS a_boolean, -128Y AS a_byte, -32768S AS a_short,"
            + " -2147483648 AS an_int, 9223372036854775807L AS a_long, 1.5F AS a_float, 2.5D AS a_double,"
            + " CAST('-99999999999999999999999999999.999999999' AS DECIMAL(38,9)) AS a_decimal,"
            + " DATE'1582-10-15' AS a_date, TIMESTAMP_NTZ'2024-07-01 12:00:00.123456' AS a_moment,"
            + " 'it''s \u00e9 \ud83d\ude00' AS a_text, X'00FF' AS a_binary, CAST('ab' AS CHAR(3)) AS a_char,"
            + " array(1, NULL) AS a_list, map('k', 1.5D) AS a_map, named_struct('x', 1) AS a_struct"));
      }
    });
    step("no values", () -> {
      try (Statement statement = connection.createStatement()) {
        return typesOf(statement.executeQuery("SELECT CAST(NULL AS BOOLEAN) AS a, CAST(NULL AS TINYINT) AS b,"
            + " CAST(NULL AS SMALLINT) AS c, CAST(NULL AS INT) AS d, CAST(NULL AS BIGINT) AS e,"
            + " CAST(NULL AS FLOAT) AS f, CAST(NULL AS DOUBLE) AS g, CAST(NULL AS DECIMAL(9,2)) AS h,"
            + " CAST(NULL AS DATE) AS i, CAST(NULL AS TIMESTAMP_NTZ) AS j, CAST(NULL AS STRING) AS k,"
            + " CAST(NULL AS BINARY) AS l"));
      }
    });
    step("nested", () -> query(connection, "SELECT array(1, 2) AS a, named_struct('x', 1) AS b, map('k', 1) AS c"));
    step("prepared", () -> {
      try (PreparedStatement statement =
          connection.prepareStatement("SELECT count(*) FROM calendar WHERE month = ? AND day_name <> ?")) {
        statement.setInt(1, 1);
        statement.setString(2, "day 3");
        return rows(statement.executeQuery());
      }
    });
    step("prepared date", () -> {
      try (PreparedStatement statement = connection.prepareStatement("SELECT count(*) FROM every_type WHERE a_date < ?")) {
        statement.setDate(1, Date.valueOf("2000-01-01"));
        return rows(statement.executeQuery());
      }
    });
    step("prepared values", () -> {
      try (PreparedStatement statement = connection.prepareStatement("SELECT CAST(? AS BIGINT) AS a,"
          + " CAST(? AS DOUBLE) AS b, CAST(? AS DECIMAL(9,2)) AS c, CAST(? AS BOOLEAN) AS d, ? AS e, ? AS f,"
          + " 'a ?' AS g")) {
        statement.setLong(1, 1L << 62);
        statement.setDouble(2, 0.1);
        statement.setBigDecimal(3, new BigDecimal("-1.50"));
        statement.setBoolean(4, true);
        statement.setString(5, "it's \u00e9");
        statement.setString(6, "? -- \" `");
        return rows(statement.executeQuery());
      }
    });
    step("prepared backslash", () -> {
      try (PreparedStatement statement = connection.prepareStatement("SELECT length(?) AS a")) {
        statement.setString(1, "a\\n'b");
        return rows(statement.executeQuery());
      }
    });
    step("prepared moment", () -> {
      try (PreparedStatement statement = connection.prepareStatement(
          "SELECT CAST(CAST(? AS TIMESTAMP) AS STRING) AS a")) {
        statement.setTimestamp(1, Timestamp.valueOf("2024-07-01 12:00:00.5"));
        return rows(statement.executeQuery());
      }
    });
    step("prepared null", () -> {
      try (PreparedStatement statement = connection.prepareStatement("SELECT coalesce(CAST(? AS INT), 7) AS a")) {
        statement.setNull(1, Types.INTEGER);
        return rows(statement.executeQuery());
      }
    });
    step("prepared again", () -> {
      try (PreparedStatement statement = connection.prepareStatement(
          "SELECT count(*) AS n FROM calendar WHERE month = ?")) {
        StringBuilder text = new StringBuilder();
        for (int month = 4; month <= 5; month++) {
          statement.setInt(1, month);
          text.append(rows(statement.executeQuery()));
        }
        return text;
      }
    });
    step("large", () -> {
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(10_000);
        return sums(statement.executeQuery("SELECT id, repeat('x', CAST(id % 100 AS INT)) AS t FROM range(300000)"));
      }
    });
    step("small fetches", () -> {
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(7);
        return sums(statement.executeQuery("SELECT id, 'x' AS t FROM range(100)"));
      }
    });
    step("two results", () -> {
      try (Statement one = connection.createStatement(); Statement other = connection.createStatement()) {
        ResultSet first = one.executeQuery("SELECT id FROM range(3) ORDER BY id");
        ResultSet second = other.executeQuery("SELECT id + 10 FROM range(3) ORDER BY id");
        StringBuilder text = new StringBuilder();
        while (first.next() && second.next()) {
          text.append(first.getLong(1)).append(" ").append(second.getLong(1)).append(" ");
        }
        return text;
      }
    });
    step("no rows", () -> query(connection, "SELECT * FROM calendar WHERE 1 = 0"));
    step("schema", () -> {
      connection.setSchema("shop_archive");
      String found = query(connection, "SELECT current_schema()");
      connection.setSchema("shop");
      return found;
    });
    step("most rows", () -> {
      try (Statement statement = connection.createStatement()) {
        statement.setMaxRows(2);
        return rows(statement.executeQuery("SELECT day_key - day_key AS a FROM calendar"));
      }
    });
    step("show", () -> query(connection, "SHOW TABLES"));
    step("use", () -> {
      try (Statement statement = connection.createStatement()) {
        boolean hasRows = statement.execute("USE lake.shop_archive");
        return hasRows + " " + query(connection, "SELECT current_schema()");
      }
    });
    step("update", () -> {
      try (Statement statement = connection.createStatement()) {
        return statement.executeUpdate("CREATE OR REPLACE TEMPORARY VIEW own AS SELECT 9 AS nine")
            + " " + query(connection, "SELECT * FROM own");
      }
    });
    step("error", () -> query(connection, "SELECT nope FROM lake.shop.sales"));
    step("insert", () -> query(connection, "INSERT INTO lake.shop.sales VALUES (1, 1, 1)"));
    step("cancel", () -> {
      try (Statement statement = connection.createStatement()) {
        new Thread(() -> {
          try {
            Thread.sleep(3_000);
            statement.cancel();
          } catch (Exception error) {
            System.out.println("FAILED to cancel | " + oneLine(error.toString()));
          }
        }).start();
        return rows(statement.executeQuery(ENDLESS));
      }
    });
    step("timeout", () -> {
      try (Statement statement = connection.createStatement()) {
        statement.setQueryTimeout(3);
        return rows(statement.executeQuery(ENDLESS));
      }
    });
    step("closed", () -> {
      Statement statement = connection.createStatement();
      new Thread(() -> {
        try {
          Thread.sleep(3_000);
          statement.close();
        } catch (Exception error) {
          System.out.println("FAILED to close | " + oneLine(error.toString()));
        }
      }).start();
      return rows(statement.executeQuery(ENDLESS));
    });
    step("afterwards", () -> query(connection, "SELECT 1"));
    step("close", () -> {
      connection.close();
      return connection.isClosed();
    });
    step("wrong password", () -> DriverManager.getConnection(arguments[0], arguments[1], "wrong").isValid(60));
    step("wrong name", () -> DriverManager.getConnection(arguments[0], "victim", arguments[2]).isValid(60));
    System.exit(0);
  }
}
