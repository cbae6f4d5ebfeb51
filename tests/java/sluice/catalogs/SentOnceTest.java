package sluice.catalogs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import org.junit.jupiter.api.Test;

final class SentOnceTest {

    private boolean isOpen = true;
    private SQLException failure;
    private int sent;

    @Test
    void aChangeIsSentOnceAndReturnsItsCount() throws SQLException {
        assertEquals(1, statement().executeUpdate());
        assertEquals(1, sent);
    }

    @Test
    void aChangeWhoseConnectionBreaksIsNotTriedAgain() {
        for (SQLException broken : new SQLException[] {
            new SQLException("An I/O error occurred", "08006"), new SQLNonTransientConnectionException("gone")
        }) {
            failure = broken;
            SQLException found = assertThrows(ChangeSent.class, () -> statement().executeUpdate());
            assertSame(broken, found.getCause());
            assertEquals("HY000", found.getSQLState());
            assertTrue(ChangeSent.isCauseOf(new IllegalStateException(found)));
        }
    }

    @Test
    void aConnectionThatIsClosedBeforeIsReplaced() {
        isOpen = false;
        SQLException found = assertThrows(SQLException.class, () -> statement().executeUpdate());
        assertEquals("08003", found.getSQLState());
        assertEquals(0, sent);
    }

    @Test
    void whatTheDatabaseRefusesIsPassedOn() {
        failure = new SQLException("duplicate key", "23505");
        assertSame(failure, assertThrows(SQLException.class, () -> statement().executeUpdate()));
    }

    @Test
    void aReadingThatFailsMayBeRepeated() {
        failure = new SQLException("An I/O error occurred", "08006");
        assertSame(failure, assertThrows(SQLException.class, () -> statement().executeQuery()));
    }

    private PreparedStatement statement() throws SQLException {
        return SentOnce.over(connection()).prepareStatement("UPDATE iceberg_tables");
    }

    private Connection connection() {
        return fake(Connection.class, name -> switch (name) {
            case "isValid" -> isOpen;
            case "prepareStatement" -> fake(PreparedStatement.class, ignored -> {
                if (failure != null) {
                    throw failure;
                }
                return ++sent;
            });
            default -> throw new IllegalStateException(name);
        });
    }

    private interface Answers {
        Object of(String method) throws SQLException;
    }

    private static <T> T fake(Class<T> type, Answers answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader() == null ? SentOnceTest.class.getClassLoader() : type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answers.of(method.getName())));
    }
}
