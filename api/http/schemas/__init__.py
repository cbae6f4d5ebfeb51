"""Models of requests and answers; camelCase names exist on the wire only, and are made here."""
