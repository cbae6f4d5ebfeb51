"""Settings of the protocols of SQL tools: Arrow Flight SQL and HiveServer2's."""
