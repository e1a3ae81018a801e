"""BERT-sized work: compiles the model, then calls it; prints how long each took, as JSON.

With `breaks`, every layer breaks the graph, so that there is something to capture.
"""

import json
import logging
import sys
import time

import torch
from transformers import BertConfig, BertModel

log = logging.getLogger(__name__)


def breaks(module, args):
    log.info("a layer begins")


torch.manual_seed(0)
model = BertModel(BertConfig(attn_implementation="eager")).eval()
if "breaks" in sys.argv:
    for layer in model.encoder.layer:
        layer.register_forward_pre_hook(breaks)
tokens = torch.randint(0, 1000, (1, 64))
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    model(tokens)
    started = time.perf_counter()
    compiled(tokens)
    first = time.perf_counter() - started
    steady = []
    for _ in range(40):
        started = time.perf_counter()
        compiled(tokens)
        steady.append(time.perf_counter() - started)
print(json.dumps({"compile": first, "steady": min(steady)}))
