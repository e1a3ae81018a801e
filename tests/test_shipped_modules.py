"""The wheel has no module that only tests use."""

from __future__ import annotations

import grimp

# A package finds the modules in these folders by itself.
DISCOVERED = (
    "fullgraph.ai.checks.",
    "fullgraph.ai.providers.",
    "fullgraph.capture.measures.",
    "fullgraph.catalog.entries.",
    "fullgraph.commands.",
    "fullgraph.fix.fixers.",
    "fullgraph.fix.trials.probes.",
    "fullgraph.recompiles.remedies.",
    "fullgraph.render.",
    "fullgraph.site.pages.",
)
# Python starts these modules by name.
STARTED = {
    "fullgraph.__main__": "the command line",
    "fullgraph.fix.trials.copied_program": "fix/apply/copy_check.py",
    "fullgraph.recompiles.zygote": "recompiles/replay.py",
    "fullgraph.where.server": "where/pipeline.py",
    "fullgraph.registry.taxonomy.counts": "tools/check_generated.py, and people who add a release",
}


def test_every_shipped_module_is_used_by_the_package() -> None:
    graph = grimp.build_graph("fullgraph", cache_dir=None)
    unused = {
        module
        for module in graph.modules
        if not graph.find_modules_that_directly_import(module)
        and not graph.find_children(module)
        and not module.startswith(DISCOVERED)
    }
    assert unused == STARTED.keys()
