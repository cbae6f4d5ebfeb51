"""Child processes with a deadline: functions go in, results come out.

Compiled code holds Python's lock for as long as it runs, and a thread cannot be ended from outside. So work
that may take long because of a caller's input runs in a process that can be killed. Imports only the errors.
"""
