"""Values about tables and their text: names, schemas, versions, layout, views, changes.

Frozen values: what a catalog knows of a table, how a sent schema differs from it, and where the text of a
query names tables. The room imports nothing from the other rooms.
"""
