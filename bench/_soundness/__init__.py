"""The differential fuzzer of `fullgraph fix`: programs, inputs, and how they are compared."""
