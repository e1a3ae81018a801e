"""Computes a checksum or a hash of a string at trace time.

What it does: moves the expression to a function with `torch.compiler.assume_constant_result`.
Dynamo calls the function while it traces and uses the result as a constant. Its guard on the
string makes Dynamo call the function again for another string.

Why it breaks: Dynamo does not trace into functions that are written in C, such as the checksum or
the hash of a layer's name. The string is known at trace time, and so is the result.

Safety: exact. A checksum or hash of one string depends on nothing else, cannot fail, and is
immutable. For a tensor or another object, Dynamo would assume a constant without a guard on its
contents. Therefore anything but a plain `str` is hashed as before.

Not applied when: the hash object itself is used, or the expression is inside a `try`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import replace_node
from fullgraph.fix.source.locate import statements_at
from fullgraph.fix.source.names import arguments_of, bound_in, is_name_chain, root_of
from fullgraph.fix.source.text import span

TITLE = "checksum or hash of a string → constant of the graph"
KIND = "escape"
SAFETY = "exact"
IDS = ()
CATEGORIES = ("untraced-calls", "python")
OFFERED_FOR = r"crc32|adler32|hexlify|hashlib|digest|\b(md5|sha\d+|blake2b)\b"

_CHECKSUMS = ("zlib.crc32", "zlib.adler32", "binascii.crc32", "binascii.hexlify")
_HASHES = ("hashlib.md5", "hashlib.sha1", "hashlib.sha256", "hashlib.sha512", "hashlib.blake2b")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield a call of a new function in the place of the expression."""
    function = context.function
    if function is None:
        return
    finder = _HashedStrings(context, function)
    values = [each for each in context.expressions if finder.hashed_string(each) is not None]
    if not values:
        finder.decline_hash_objects()
        return
    # The largest expression that depends on the string alone.
    value = values[-1]
    if any(isinstance(each, ast.Try) for each in statements_at(function, context.cause.line)):
        raise Declined("the expression is inside a `try`", value)
    if "\n" in context.source(value):
        raise Declined("the expression has several lines", value)
    string = finder.hashed_string(value)
    assert string is not None
    yield _constant_result(context, value, string)


class _HashedStrings:
    """Finds the string that an expression of a function is computed from."""

    def __init__(self, context: BreakContext, function: ast.FunctionDef) -> None:
        self._context = context
        self._local = {each.arg for each in arguments_of(function)} | bound_in(function)
        # Definitions of the file, perhaps under the name of a builtin or a module.
        self._defined = {*context.symbols.functions, *context.symbols.classes}

    def hashed_string(self, node: ast.expr) -> ast.expr | None:
        """Return the only string that a checksum or hash depends on; None for other nodes."""
        match node:
            case ast.BinOp(left=left, right=ast.Constant()):
                return self.hashed_string(left)
            case ast.Call(func=ast.Name(id="int"), args=[value, *base], keywords=[]):
                is_plain = all(isinstance(each, ast.Constant) for each in base)
                is_builtin = "int" not in self._defined
                return self.hashed_string(value) if is_plain and is_builtin else None
            case ast.Call(
                func=ast.Attribute(value=made, attr="hexdigest" | "digest"), args=[], keywords=[]
            ):
                return self._encoded(made, _HASHES)
        return self._encoded(node, _CHECKSUMS)

    def decline_hash_objects(self) -> None:
        """Decline a hash object whose digest is not taken at once."""
        for call in self._context.calls:
            if self._encoded(call, _HASHES) is not None:
                raise Declined("the hash object is used for more than its digest", call)

    def _encoded(self, node: ast.expr, functions: tuple[str, ...]) -> ast.expr | None:
        """Return the string in `zlib.crc32(string.encode())`; None for other nodes."""
        match node:
            case ast.Call(
                func=func,
                args=[
                    ast.Call(func=ast.Attribute(value=string, attr="encode"), args=[], keywords=[])
                ],
                keywords=[],
            ) if self._imported_name(func) in functions and self._is_local_chain(string):
                return string
        return None

    def _is_local_chain(self, node: ast.expr) -> bool:
        return is_name_chain(node) and root_of(node) in self._local

    def _imported_name(self, function: ast.expr) -> str:
        """Return the full name of an imported function; empty for any other."""
        root = root_of(function)
        is_imported = root in self._context.imports and root not in self._local | self._defined
        return self._context.name(function) if is_imported else ""


def _constant_result(context: BreakContext, value: ast.expr, string: ast.expr) -> Candidate:
    """Return the candidate that computes a value in a function of its own."""
    argument = context.source(string)
    parameter = argument.rpartition(".")[2]
    function = context.fresh_name(f"_hash_of_{parameter}")
    constant = context.fresh_name(f"_constant_hash_of_{parameter}")
    body = _with_parameter(context, value, string, parameter)
    definition = f"""

@torch.compiler.assume_constant_result
def {constant}({parameter}):
    return {body}


def {function}({parameter}):
    # Dynamo guards on the value of a plain str only; other types are not cached.
    if type({parameter}) is str:
        return {constant}({parameter})
    return {body}"""
    edit = replace_node(context.text, value, f"{function}({argument})")
    return Candidate(
        context.file_edits([edit], imports=("import torch",), definitions=(definition,))
    )


def _with_parameter(
    context: BreakContext, value: ast.expr, string: ast.expr, parameter: str
) -> str:
    """Return the source of a value, with a parameter in the place of its string."""
    offset = span(context.text, value)[0]
    start, end = (position - offset for position in span(context.text, string))
    source = context.source(value)
    return source[:start] + parameter + source[end:]
