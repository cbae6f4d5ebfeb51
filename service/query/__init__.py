"""One query's life: vet, run, record, explain."""
