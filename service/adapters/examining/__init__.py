"""What `sluice doctor` asks stores and tries on storage, once: addresses come in, plain values go out.

May import the other adapters. Nothing that the gateway serves by imports this room.
"""
