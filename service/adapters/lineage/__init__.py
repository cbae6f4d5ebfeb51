"""OpenLineage's runs, jobs and datasets, and the transports that send events."""
