"""Sessions of callers: values that their queries share. No engine, connection or row belongs to one."""
