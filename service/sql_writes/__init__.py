"""Writes by SQL: recorded before they begin, and their outcome found by the mark in their snapshot."""
