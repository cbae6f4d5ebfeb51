"""Large inputs, read and written by executors."""
