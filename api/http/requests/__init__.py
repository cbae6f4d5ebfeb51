"""From what callers sent, which Pydantic has looked at, to what the gateway takes."""
