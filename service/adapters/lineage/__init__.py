"""Runs, jobs and datasets as OpenLineage has them, and the ways by which events leave the gateway."""
