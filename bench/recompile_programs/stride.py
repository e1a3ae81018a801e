"""Images that come from three decoders, each with a memory layout of its own.

more_calls = ["serve(['pil', 'video', 'torch'])", "serve(['crop'])"]

[[groups]]
kind = "stride"
place = "argument"
name = "image"
values = ["*", "*", "*"]
called_at = "scores.append(classify(image))"
bound_at = "image = DECODERS[source]()"
recompiles = 2
calls = { total = 8, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch
from torch.nn.functional import conv2d

torch.manual_seed(0)
kernel = torch.randn(6, 3, 3, 3)
DECODERS = {
    "torch": lambda: torch.rand(2, 3, 16, 16),
    "pil": lambda: torch.rand(2, 16, 16, 3).permute(0, 3, 1, 2),
    "video": lambda: torch.rand(3, 2, 16, 16).transpose(0, 1),
    "crop": lambda: torch.rand(2, 3, 32, 32)[:, :, 8:24, 8:24],
}


@torch.compile(backend="eager", dynamic=False)
def classify(image):
    features = conv2d(image, kernel).relu()
    return features.mean((2, 3)).softmax(-1)


def serve(sources):
    scores = []
    for source in sources:
        image = DECODERS[source]()
        scores.append(classify(image))
    return scores


serve(["torch", "pil", "torch", "video", "pil", "video", "torch", "pil"])
