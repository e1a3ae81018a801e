NAME = "found through sys.path[0]"
SHIFT = 3
