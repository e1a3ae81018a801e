"""Running the program once in eager, and the calls that reach a compiled function."""
