"""A model that logs each call to a handler that takes 5 ms, as a log on a network does.

[[causes]]
name = "log"
line = 'log.info("features are ready")'
ms = 5.0
fix = true
"""

import logging

import torch
from _work import left_out, spin, time_calls
from torch import nn

WITHOUT = left_out()


class SlowHandler(logging.Handler):
    def emit(self, record):
        spin(5.0)


log = logging.getLogger("service")
log.setLevel(logging.INFO)
log.propagate = False
# Instead of addHandler: variants of this program share one process, and so this logger.
log.handlers = [SlowHandler()]


class Service(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)

    def forward(self, x):
        hidden = self.first(x).relu()
        if "log" not in WITHOUT:
            log.info("features are ready")
        return self.second(hidden)


torch.manual_seed(0)
model = torch.compile(Service().eval(), backend="eager")
batch = torch.randn(16, 64)
with torch.no_grad():
    time_calls(lambda: model(batch), calls=60)
