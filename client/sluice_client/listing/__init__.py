"""Lists: tables and their columns, queries, and the parts of the gateway.

Questions of the command line come in; values go out. No row of a result is read here.
"""
