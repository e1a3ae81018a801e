"""Trying one thing on the recorded calls, in a process of its own."""
