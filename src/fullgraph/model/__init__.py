"""The data of fullgraph as frozen structs: events, sessions, reports. Imports no torch."""
