"""How queries are admitted, bounded, pruned and answered from earlier results."""
