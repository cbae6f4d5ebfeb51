"""Reads how the rows of Iceberg tables lie in their files.

Input: a table, columns, and bounds on what is looked at. Output: the bounds of each data file, from its
manifest, and a sample of rows, from some of the files. It reads only, and stands on `catalogs`.
"""
