"""Processes of the gateway's own that end at a deadline: functions go in, results come out.

Compiled code holds Python's lock for as long as it runs, and no thread can be ended from outside. So what may
take long by what a caller sends runs in a process that can be killed. Imports the errors and nothing else.
"""
