"""The view of an operator: logs, metrics, lineage, audit, and the commands for them."""
