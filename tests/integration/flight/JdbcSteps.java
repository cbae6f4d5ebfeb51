import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;

/** Steps of a JDBC program against Arrow Flight SQL. Each prints one line: OK or FAILED, its name, and what it saw. */
public final class JdbcSteps {
  private static final String ENDLESS = "SELECT sum(hash(id)) AS s FROM range(0, 1000000000000, 1, 1)";

  private interface Step {
    Object run() throws Exception;
  }

  private JdbcSteps() {}

  private static void step(String name, Step step) {
    try {
      System.out.println("OK " + name + " | " + oneLine(String.valueOf(step.run())));
    } catch (Throwable error) {
      System.out.println("FAILED " + name + " | " + oneLine(error.toString()));
    }
  }

  private static String oneLine(String text) {
    String line = text.replace('\n', ' ');
    return line.length() > 600 ? line.substring(0, 600) : line;
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

  public static void main(String[] arguments) throws Exception {
    Connection[] held = new Connection[1];
    step("connect", () -> held[0] = DriverManager.getConnection(arguments[0], arguments[1], arguments[2]));
    Connection connection = held[0];
    DatabaseMetaData metadata = connection.getMetaData();
    step("product", () -> metadata.getDatabaseProductName() + " " + metadata.isReadOnly());
    step("quote", metadata::getIdentifierQuoteString);
    step("keywords", metadata::getSQLKeywords);
    step("catalogs", () -> rows(metadata.getCatalogs()));
    step("schemas", () -> rows(metadata.getSchemas("lake", "%")));
    step("types of tables", () -> rows(metadata.getTableTypes()));
    step("tables", () -> rows(metadata.getTables("lake", "shop", "%", new String[] {"TABLE"})));
    step("columns", () -> rows(metadata.getColumns("lake", "shop", "sales", "%")));
    step("primary keys", () -> rows(metadata.getPrimaryKeys("lake", "shop", "sales")));
    step("imported keys", () -> rows(metadata.getImportedKeys("lake", "shop", "sales")));
    step("types", () -> rows(metadata.getTypeInfo()));
    step("valid", () -> connection.isValid(30));
    step("select", () -> query(connection, "SELECT month, count(*) AS n FROM calendar GROUP BY 1 ORDER BY 1"));
    step("scalars", () -> query(connection,
        "SELECT 1Y, 2S, 3, 4L, 1.5F, 2.5D, 1.50BD, true, 'a', DATE'2000-01-02', X'0A', CAST(NULL AS INT)"));
    step("moments", () -> query(connection,
        "SELECT TIMESTAMP'2024-07-01 12:00:00Z' AS a, TIMESTAMP_NTZ'2024-07-01 12:00:00' AS b"));
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
    step("close", () -> {
      connection.close();
      return connection.isClosed();
    });
    step("wrong password", () -> DriverManager.getConnection(arguments[0], arguments[1], "wrong"));
    System.exit(0);
  }
}
