"""The checks of `sluice doctor` on stores and storage: addresses come in, plain values go out.

This room may import the other adapters. No code that serves requests imports it.
"""
