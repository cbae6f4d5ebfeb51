package sluice.catalogs;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;

/** A connection whose changes fail with {@link ChangeSent} if it breaks after they were sent. */
final class SentOnce {

    private static final int ANSWERS_WITHIN_S = 10;
    private static final String BROKEN = "08";
    /** The pool repeats what fails with it on a new connection. */
    private static final String CLOSED = "08003";

    private SentOnce() {}

    static Connection over(Connection connection) {
        return wrapped(Connection.class, (proxy, method, arguments) -> {
            Object found = called(connection, method, arguments);
            return found instanceof PreparedStatement statement ? over(connection, statement) : found;
        });
    }

    private static PreparedStatement over(Connection connection, PreparedStatement statement) {
        return wrapped(PreparedStatement.class, (proxy, method, arguments) -> {
            if (!method.getName().equals("executeUpdate")) {
                return called(statement, method, arguments);
            }
            // One that the database has closed in the meantime is noticed before anything is sent.
            if (!connection.isValid(ANSWERS_WITHIN_S)) {
                throw new SQLNonTransientConnectionException("The connection is closed.", CLOSED);
            }
            try {
                return called(statement, method, arguments);
            } catch (SQLException failure) {
                throw isBroken(failure) ? new ChangeSent(failure) : failure;
            }
        });
    }

    private static boolean isBroken(SQLException failure) {
        String state = failure.getSQLState();
        return failure instanceof SQLNonTransientConnectionException || (state != null && state.startsWith(BROKEN));
    }

    private static Object called(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    private static <T> T wrapped(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(SentOnce.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
