package sluice.rowgroups;

import org.apache.iceberg.io.InputFile;

/** The part of a file that a task reads: the row groups whose middle is in these bytes. */
record FilePart(InputFile file, long start, long length) {}
