"""One part of a complex tensor is replaced by assignment, `spectrum.real = ...`, as in NumPy
code.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(signal):
    spectrum = torch.fft.rfft(signal)
    spectrum.real = spectrum.real.clamp(min=0)
    return torch.fft.irfft(spectrum)


@fix("rewrite", "exact")
def fixed(signal):
    """A new complex tensor is made from both parts."""
    spectrum = torch.fft.rfft(signal)
    spectrum = torch.complex(spectrum.real.clamp(min=0), spectrum.imag)
    return torch.fft.irfft(spectrum)
