package sluice.files;

import java.util.regex.Pattern;

/**
 * A file of a catalog. Two catalogs may reach different stores under the same address, or have different rights, so
 * neither sees the files of the other.
 */
record FileKey(String catalog, String path) {

    private static final Pattern LOCAL = Pattern.compile("^file:/+");
    private static final Pattern S3 = Pattern.compile("^s3[an]://");
    private static final int BYTES_OF_A_CHARACTER = 2;

    /** Returns the key of a file. Its location may be written in different ways, such as `file:///a` and `/a`. */
    static FileKey of(String catalog, String location) {
        return new FileKey(catalog, path(location));
    }

    /** Whether the file has this prefix, as `SupportsPrefixOperations` means it. */
    boolean isBelow(String ofCatalog, String prefix) {
        return catalog.equals(ofCatalog) && path.startsWith(path(prefix));
    }

    long memory() {
        return (long) BYTES_OF_A_CHARACTER * path.length();
    }

    private static String path(String location) {
        if (location.startsWith("file:")) {
            return LOCAL.matcher(location).replaceFirst("/");
        }
        return location.startsWith("s3") ? S3.matcher(location).replaceFirst("s3://") : location;
    }
}
