"""The query's text: read it, find places in it, and write into it.

This is the first and the last step of pruning. Input: the caller's text. Output: its tree with the position
of every table reference, and later the same text with predicates spliced in at those positions. Everything
outside a splice stays byte for byte. Views, versions, placeholders and metadata tables are found here too.
The room imports only `conditions` and the model.
"""
