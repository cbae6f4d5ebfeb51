"""Tables to try the gateway on: TPC-DS data, and a log table of 500 columns.

In comes a catalog; out go Iceberg tables with real rows, loaded once. The room imports `catalogs`.
"""
