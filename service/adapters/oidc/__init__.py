"""Access tokens of OIDC issuers: fetches the issuers' keys, and verifies tokens."""
