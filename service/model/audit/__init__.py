"""Events of the audit log: who did what, from where, with which outcome."""
