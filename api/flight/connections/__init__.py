"""Connections of Arrow Flight SQL: gRPC accepts them without a bound, so they are watched from beside."""
