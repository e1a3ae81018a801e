"""Whether two texts of a file differ outside of the bodies of functions."""

from __future__ import annotations

import ast

# They run while a program builds its objects, before any trial.
_BUILDERS = ("__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__")


def differ_outside_functions(before: str, after: str) -> bool:
    """Return whether anything but bodies of functions differs; comments do not count.

    The bodies of `__init__` and the like count: a program has run them when a trial begins.
    """
    return _skeleton(before) != _skeleton(after)


def _skeleton(text: str) -> str:
    return ast.dump(_WithoutBodies().visit(ast.parse(text)))


class _WithoutBodies(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name not in _BUILDERS:
            node.body = []
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.body = []
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = ast.Constant(None)
        return self.generic_visit(node)
