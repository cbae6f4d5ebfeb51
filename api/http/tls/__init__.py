"""TLS on the gateway's own address, with certificates that may change while it runs."""
