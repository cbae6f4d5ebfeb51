"""Keys of every type and form, in joins of every kind."""
