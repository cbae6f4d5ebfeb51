"""Access policies as values: actions, table patterns, grants, row filters, column masks, and decisions."""
