"""The answers to drivers' metadata calls, as tables with the columns that JDBC names."""
