"""Tables to try the gateway on: TPC-DS data, and a log table of 500 columns.

Input: a catalog. Output: Iceberg tables with real rows, loaded once. The room imports `catalogs`.
"""
