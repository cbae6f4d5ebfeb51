package sluice.manifests;

/** A table with the schema that its entries were decoded with. */
record TableState(String uuid, int schema) {}
