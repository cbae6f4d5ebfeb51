"""The rules for write schemas: each rule is a module with one function that yields every violation."""
