"""A model whose memory is estimated on the meta device before it runs.

more_calls = ["run(['cpu', 'cpu'])"]

[[groups]]
kind = "device"
place = "argument"
name = ["batch", "weight"]
values = ["meta", "cpu"]
called_at = "outputs.append(project(batch, weight.to(device)))"
bound_at = "batch = torch.ones(4, 8, device=device)"
recompiles = 1
calls = { total = 6, eager = 0 }
bounded = true
remedy = "none"
"""

import torch

torch.manual_seed(0)
weight = torch.randn(8, 3)


@torch.compile(backend="eager")
def project(batch, weight):
    return (batch @ weight).relu()


def run(devices):
    outputs = []
    for device in devices:
        batch = torch.ones(4, 8, device=device)
        outputs.append(project(batch, weight.to(device)))
    return outputs


run(["meta", "cpu", "cpu", "cpu", "cpu", "cpu"])
