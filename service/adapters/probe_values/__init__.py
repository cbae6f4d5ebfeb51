"""Values that a probe's columns can hold, from the table's manifests."""
