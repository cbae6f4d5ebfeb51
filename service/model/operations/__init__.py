"""Values about the running gateway: health, usage of bounds, maintenance, its stores and engine.

Frozen values that health routes, metrics, `sluice doctor` and maintenance share. The room imports `ingest`.
"""
