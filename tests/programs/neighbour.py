NAME = "found through sys.path[0]"
