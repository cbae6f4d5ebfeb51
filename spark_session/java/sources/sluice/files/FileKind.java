package sluice.files;

import java.util.Locale;
import java.util.regex.Pattern;

/** Whether a file of a table can be cached. Only its name is looked at. */
enum FileKind {
    /** A table's or a view's metadata, a manifest, or a list of manifests. */
    METADATA,
    /** A Parquet file: its last part is read first, each time that the file is opened. */
    PARQUET,
    /** Another file of rows, deletes or statistics. */
    DATA,
    /** A file that may change, or that is read better as it is. */
    OTHER;

    /**
     * Writers of Iceberg put a UUID into each name, and never write a name twice. Other names may be written again: in
     * catalogs of files, `version-hint.text` is, and so is `v1.metadata.json` after a table was dropped and created.
     */
    private static final Pattern UUID =
        Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", Pattern.CASE_INSENSITIVE);
    private static final Pattern METADATA_FILE = Pattern.compile(".*\\.metadata\\.json(\\.gz)?");
    private static final Pattern MANIFEST = Pattern.compile("snap-.*\\.avro|.*-m-?[0-9a-f-]*\\.avro");

    /** Returns the kind of a file by its location. */
    static FileKind of(String location) {
        String name = location.substring(location.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
        if (!UUID.matcher(name).find()) {
            return OTHER;
        }
        if (METADATA_FILE.matcher(name).matches() || MANIFEST.matcher(name).matches()) {
            return METADATA;
        }
        if (name.endsWith(".parquet")) {
            return PARQUET;
        }
        // ORC is left out: without Hadoop's file, each reader would parse Hadoop's configuration again.
        return name.endsWith(".avro") || name.endsWith(".puffin") || name.endsWith(".stats") ? DATA : OTHER;
    }
}
