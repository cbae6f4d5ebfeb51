"""Statements that write while gateways and engines are killed: each happens whole, once, or not at all."""
