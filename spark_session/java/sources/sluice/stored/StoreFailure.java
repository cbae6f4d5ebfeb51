package sluice.stored;

import java.io.IOException;
import java.util.regex.Pattern;

/** An object store did not do what it was asked for. */
final class StoreFailure extends IOException {

    private static final long serialVersionUID = 1;
    private static final Pattern REFUSED = Pattern.compile("Status Code: 40[134]");

    final Part.Failure failure;

    StoreFailure(Throwable cause) {
        super(cause.getMessage(), cause);
        failure = isRefused(cause) ? Part.Failure.STORE_REFUSES : Part.Failure.STORE_DOWN;
    }

    /** The store's client says it in words only: its classes are not known here. */
    private static boolean isRefused(Throwable cause) {
        return cause != null
            && (REFUSED.matcher(String.valueOf(cause.getMessage())).find() || isRefused(cause.getCause()));
    }
}
