"""An `Example` of the catalog: a break and its fixes."""
