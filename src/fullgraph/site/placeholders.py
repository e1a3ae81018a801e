"""Words for the parts of a message that are known only at run time.

The registry names such a part after a variable of torch's source, such as `‹real_arg_types›`.
`words_for` turns the name into words for a reader: from a table of our own for the common names,
and by rule for all others.
"""

from __future__ import annotations

import re
from functools import cache

PLACEHOLDER = re.compile("‹([^›]*)›")
# A name that follows a full stop at once is a sentence or more of its own.
_GLUED = re.compile(r"(?<=[.:])(?=‹)")

_WORDS = {
    "MAX_ITERATOR_LIMIT": "the limit",
    "P2POp": "operation",
    "PT2_ISSUE_TRACKER_URL": "URL of the issue tracker",
    "acc": "accumulated value",
    "active_generic_context_managers": "active context managers",
    "api": "name of the API",
    "arg": "argument",
    "arg_name": "name of the argument",
    "arg_type": "type of the argument",
    "arg_types": "types of the arguments",
    "args": "arguments",
    "argval": "argument of the instruction",
    "attr": "attribute",
    "attr_name": "name of the attribute",
    "body_lifted_freevars": "variables from outside the body",
    "bwd_fn": "backward function",
    "bwd_graph": "backward graph",
    "captured_vars": "captured variables",
    "cellvar": "variable of the closure",
    "class_type": "type of the class",
    "cls": "class",
    "cls_type": "type of the class",
    "co_firstlineno": "line number",
    "code": "name of the function",
    "combine_fn": "combine function",
    "combine_result_vars": "results of the combine function",
    "combine_treespec": "structure of the results",
    "cond_r": "condition",
    "context": "context",
    "ctx": "context manager",
    "curr_exc": "current exception",
    "dataclass_cls": "dataclass",
    "double_consumed": "inputs used twice",
    "dynamic_subobj": "attribute",
    "exc_instance": "exception",
    "expected_exc_types": "expected types of exceptions",
    "expr": "expression",
    "fields": "names of the attributes",
    "first_non_constant_key": "first key that is not a constant",
    "fn": "function",
    "fn_name": "name of the function",
    "fn_qualname": "qualified name of the function",
    "format_string_parts": "parts of the string",
    "frame info": "details of the frame",
    "frame summary": "file and line",
    "fromlist": "imported names",
    "func": "function",
    "functorch_subclass_name": "name of the functorch class",
    "gb_type": "type of the break",
    "getattr_fn": "__getattr__ function",
    "graph_break_msg": "message of the break",
    "has_kwargs": "True or False",
    "idx": "index",
    "init": "initial value",
    "init_kwargs": "keyword arguments",
    "isinstance_type": "second argument of isinstance",
    "jit resolve packet": "operator",
    "key_value": "key",
    "kwargs": "keyword arguments",
    "left_ty": "type on the left",
    "limit_type": "kind of limit",
    "lower": "name of the operator",
    "member_type": "type of the member",
    "metacls": "metaclass",
    "module_or": "module",
    "name": "name",
    "obj": "object",
    "object": "value",
    "objvar": "object",
    "observed_exn_gb_explanation": "the exception that Dynamo met",
    "op": "operator",
    "opname": "name of the instruction",
    "out_spec": "structure of the outputs",
    "p": "parameter",
    "pred": "predicate",
    "qualname": "qualified name",
    "real_arg_types": "types of the arguments",
    "real_obj": "object",
    "real_obj_type": "type of the object",
    "ret": "returned value",
    "ret_val": "returned value",
    "right_ty": "type on the right",
    "same_spec": "True or False",
    "self_handler": "handler",
    "seq": "sequence",
    "skip_frame_msg": "why the frame is skipped",
    "source": "where the value comes from",
    "source_target": "device",
    "sub_args": "arguments of the subgraph",
    "sub_kwargs": "keyword arguments of the subgraph",
    "sym_expr": "symbolic expression",
    "sym_kwargs": "symbolic keyword arguments",
    "target": "operator",
    "tp_slot_name": "slot of the type",
    "trace_info": "what torch knows about the condition",
    "treespec": "structure of the value",
    "troubleshooting_url": "URL of the troubleshooting guide",
    "typ": "type",
    "type_name": "name of the type",
    "type_self": "type of the object",
    "typevar": "type variable",
    "user_cls": "class",
    "val": "value",
    "value_type": "type of the value",
    "var": "variable",
    "w": "weight",
    "xs": "inputs",
    "xs_treespec": "structure of the inputs",
    "xs_vars": "inputs",
}  # fmt: skip


@cache
def words_for(name: str) -> str:
    """Return words for a placeholder: `words_for("real_arg_types")` is "types of the arguments"."""
    name = name.strip()
    if name in _WORDS:
        return _WORDS[name]
    for start in ("type of ", "number of "):
        if name.startswith(start):
            return f"{start}the {_bare(words_for(name.removeprefix(start)))}"
    return name.removeprefix("self.").replace("_", " ").strip() or "value"


def _bare(words: str) -> str:
    return words.removeprefix("the ")


def spaced(text: str) -> str:
    """Return the text with a space before a placeholder that directly follows a sentence."""
    return _GLUED.sub(" ", text)


def plain(text: str) -> str:
    """Return the text with words instead of placeholders, for places that have no markup."""
    return PLACEHOLDER.sub(lambda match: words_for(match[1]), spaced(text))
