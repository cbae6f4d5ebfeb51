"""Authenticates requests: from a request's head to a `Principal`, or to the problem that says why not.

The input is the head of a request and the certificate of its connection. The output is a `Principal` in the
request's state. Failed attempts are counted, and guesses are slowed down. Each failure is in the log and in
the metrics, without the secret.
"""
