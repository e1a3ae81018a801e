"""Train a graph attention network of torch-geometric for one step."""

import torch
from torch_geometric.nn import GATConv, GCNConv, global_mean_pool

torch.manual_seed(0)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(4, 8)
        self.second = GATConv(8, 4, heads=2)

    def forward(self, x, edges, graphs):
        x = self.first(x, edges).relu()
        x = self.second(x, edges)
        return global_mean_pool(x, graphs)


model = torch.compile(Network(), backend="aot_eager")
edges = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3]])
graphs = torch.tensor([0, 0, 0, 1, 1, 1])
result = model(torch.randn(6, 4), edges, graphs)
result.sum().backward()
print(tuple(result.shape), f"{result.sum().item():.4f}")
