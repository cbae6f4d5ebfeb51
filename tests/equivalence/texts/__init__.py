"""Texts of every form: known, odd, generated, and those of TPC-DS."""
