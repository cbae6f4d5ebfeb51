"""What a write schema must keep to: one rule, one module, one function that tells every violation."""
