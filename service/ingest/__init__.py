"""One ingest's life: validate, route, project, write, accept, commit."""
