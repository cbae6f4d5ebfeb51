"""The store of streams: their definition, their progress, and which replica runs each.

The room imports `shared`.
"""
