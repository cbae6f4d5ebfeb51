"""GET /explain/{id} as one page that loads nothing from elsewhere."""
