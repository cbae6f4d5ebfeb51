"""GET /explain/{id} as one page that needs nothing from elsewhere."""
