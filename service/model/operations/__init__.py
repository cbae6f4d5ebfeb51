"""Values about the running gateway: health, usage of bounds, maintenance, its stores and engine.

Health routes, metrics, `sluice doctor` and maintenance share these frozen values. The room imports `ingest`.
"""
