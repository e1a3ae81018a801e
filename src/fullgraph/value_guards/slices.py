"""Finds the nodes of a traced graph that a value is computed from, mutations included."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.fx import Node

from fullgraph.value_guards.concrete_eval import ValueUnknown
from fullgraph.value_guards.mutations import MutationTracker


class ValueSlice(NamedTuple):
    """The nodes that lead to a value, in an order in which they can run."""

    nodes: list[Node]
    # Nodes that mutate a tensor, or whose result has been mutated since. A cached value of such a
    # node may be out of date, so these nodes run again for each read.
    recomputed: frozenset[Node]


def slice_for(node: Node, graph: torch.fx.Graph, mutations: MutationTracker) -> ValueSlice:
    """Return the nodes that a node's value depends on.

    These are the nodes it is computed from, and the nodes that have mutated any of those.
    """
    mutations.record_unexecuted(graph)
    nodes = _upstream(node)
    pending = [each for each in nodes if mutations.is_mutated(each)]
    if not pending:
        return ValueSlice(nodes, frozenset())
    included = set(nodes)
    recomputed: set[Node] = set()
    while pending:
        mutated = pending.pop()
        recomputed.add(mutated)
        for mutating in mutations.mutating_nodes(mutated):
            recomputed.add(mutating)
            added = [each for each in _upstream(mutating) if each not in included]
            included.update(added)
            pending += [each for each in added if mutations.is_mutated(each)]
    # A read before a mutation and a read after it differ, so the order is that of the program.
    ordered = [each for each in graph.nodes if each in included]
    if len(ordered) != len(included):
        raise ValueUnknown("the tensor was mutated in another graph")
    return ValueSlice(ordered, frozenset(recomputed))


def _upstream(node: Node) -> list[Node]:
    """Return the node and all nodes it is computed from, arguments first."""
    order: dict[Node, None] = {}
    stack = [(node, False)]
    while stack:
        current, has_arguments = stack.pop()
        if current in order:
            continue
        if has_arguments:
            order[current] = None
            continue
        stack.append((current, True))
        stack.extend((argument, False) for argument in current.all_input_nodes)
    return list(order)
