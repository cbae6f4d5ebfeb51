package sluice.rowgroups;

/** How many row groups a part of a Parquet file has, and how many of them its reader has selected by a filter. */
record RowGroups(int total, int selected) {}
