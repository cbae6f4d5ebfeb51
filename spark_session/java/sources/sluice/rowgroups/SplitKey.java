package sluice.rowgroups;

import org.apache.iceberg.relocated.com.google.common.hash.HashCode;

/** A part of a file, read by a filter. Files of Iceberg never change, so the same row groups are always selected. */
record SplitKey(String location, long start, long length, HashCode filter) {}
