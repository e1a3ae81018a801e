"""Capture the events of Dynamo, in this process or in a program that `fullgraph run` starts."""
