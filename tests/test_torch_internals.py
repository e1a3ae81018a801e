"""Only the modules in one table use private names of torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fullgraph

PACKAGE = Path(fullgraph.__file__).parent

# These names start with an underscore, but PyTorch documents them for users.
DOCUMENTED = (
    "torch._dynamo",
    "torch._dynamo.config",
    "torch._dynamo.mark_dynamic",
    "torch._dynamo.reset",
)

# The modules that may use private names of torch, and why each one needs them.
ALLOWED = {
    "capture/dynamo_hooks.py": "the table of what capture needs from each release of torch",
    "value_guards/concrete_eval.py": "evaluates nodes on real tensors, without the user's modes",
    "value_guards/dynamo_patches.py": "patches Dynamo; requirements.py lists what is patched",
    "value_guards/frame_inputs.py": "finds where an input of the traced frame comes from",
    "value_guards/frame_values.py": "reads the sources and guards of the frame being traced",
    "value_guards/guard.py": "installs a guard on the value of a tensor",
    "value_guards/node_resolution.py": "catches what Dynamo raises at a break",
    "value_guards/replayable_ops.py": "identifies operators, which have private types",
    "fix/record/input_values.py": "flattens nested inputs with pytree, as Dynamo does",
    "fix/record/recorder.py": "flattens and copies nested inputs with pytree, as Dynamo does",
    "fix/trials/compiled.py": "makes inductor draw the random numbers of eager mode",
    "fix/trials/fork.py": "imports inductor before the fork, and leaves out what only torch logs",
    "fix/runtime/signature.py": "flattens nested inputs with pytree, as Dynamo does",
    "fix/trials/outcome.py": "flattens nested inputs with pytree, as Dynamo does",
    "fix/trials/plan_reach.py": "sees the operators that run, and flattens nested values",
    "fix/trials/setting_use.py": "notices that nothing asks for a setting",
    "fix/trials/probes/_probe.py": "flattens and copies nested inputs with pytree, as Dynamo does",
    "fix/trials/vary_inputs.py": "flattens and copies nested inputs with pytree, as Dynamo does",
    "where/warm_up.py": "lets inductor check the processor before a compile is measured",
    "outcomes/observe.py": "reads tensors without the user's __torch_function__",
}
# An example of the catalog is a program that a user would write, and users use private names.
EXAMPLES = PACKAGE / "catalog" / "entries"


def is_private(name: str) -> bool:
    """Return whether a qualified name of torch is private and not documented."""
    if name in DOCUMENTED or name.startswith("torch._dynamo.config."):
        return False
    if name.startswith("torch.fx.experimental"):
        return True
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def names_of_torch(tree: ast.Module) -> Iterator[str]:
    """Yield every qualified name of torch that a module imports or spells out."""
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for name in node.names:
                    yield name.name
                    aliases[name.asname or name.name.split(".")[0]] = (
                        name.name if name.asname else name.name.split(".")[0]
                    )
            case ast.ImportFrom(module=str(module), level=0):
                for name in node.names:
                    yield f"{module}.{name.name}"
                    aliases[name.asname or name.name] = f"{module}.{name.name}"
            case ast.Call(args=[ast.Constant(value=str(name)), *_]) if _is_import_module(node):
                yield name
    yield from _chains(tree, aliases)


def _is_import_module(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] == "import_module"


def _chains(node: ast.AST, aliases: dict[str, str]) -> Iterator[str]:
    """Yield the longest attribute chains that start at an imported name."""
    if isinstance(node, ast.Attribute):
        chain = ast.unparse(node)
        root, _, rest = chain.partition(".")
        if root in aliases and all(part.isidentifier() for part in chain.split(".")):
            yield f"{aliases[root]}.{rest}"
            return
    for child in ast.iter_child_nodes(node):
        yield from _chains(child, aliases)


def private_names(source: str) -> set[str]:
    """Return the private names of torch that a module uses."""
    names = names_of_torch(ast.parse(source))
    return {name for name in names if name.split(".")[0] == "torch" and is_private(name)}


def modules_with_private_names() -> dict[str, set[str]]:
    """Return the private names of torch by module; modules without any are left out."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        if EXAMPLES not in file.parents:
            names = private_names(file.read_text("utf-8"))
            if names:
                found[file.relative_to(PACKAGE).as_posix()] = names
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, set[str]]:
    return modules_with_private_names()


def test_private_names_of_torch_are_used_only_where_the_table_allows_them(
    found: dict[str, set[str]],
) -> None:
    assert {module: names for module, names in found.items() if module not in ALLOWED} == {}


def test_the_table_lists_no_module_that_does_not_need_it(found: dict[str, set[str]]) -> None:
    assert ALLOWED.keys() - found.keys() == set()


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import torch._inductor.config", "torch._inductor.config"),
        ("from torch._dynamo import exc", "torch._dynamo.exc"),
        ("from torch._dynamo import exc as e\ne.Unsupported", "torch._dynamo.exc.Unsupported"),
        ("import torch\ntorch._C._nn.gelu(1)", "torch._C._nn.gelu"),
        ("import torch as t\nt._guards", "torch._guards"),
        ("from importlib import import_module\nimport_module('torch._guards')", "torch._guards"),
        ("from torch.fx.experimental import symbolic_shapes", "torch.fx.experimental"),
    ],
)
def test_every_way_to_name_an_internal_is_found(source: str, name: str) -> None:
    assert any(found.startswith(name) for found in private_names(source))


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch._dynamo.reset()",
        "import torch\ntorch._dynamo.config.recompile_limit",
        "import torch\ntorch.__version__",
        "'torch._C'",
        "import other\nother._C",
    ],
)
def test_documented_names_and_other_packages_are_not_internals(source: str) -> None:
    assert private_names(source) == set()
