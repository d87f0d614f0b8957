"""GELU and its derivative by Ingot, in one kernel: with PyTorch as an autograd function, else on NumPy's arrays.

PYTHONPATH=build/examples python3 examples/python/gelu.py
"""

import ingot_example


class Lent:
    """What came from Ingot, as from_dlpack wants it."""

    def __init__(self, capsule, device):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


def with_torch(torch):
    class Gelu(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            # 1 is CUDA's name of the legacy default stream, which PyTorch's is unless one is set.
            stream = (torch.cuda.current_stream().cuda_stream or 1) if x.is_cuda else 0
            capsule = torch.utils.dlpack.to_dlpack(x.detach().contiguous())
            y, slope = (torch.from_dlpack(c) for c in ingot_example.gelu(capsule, stream))
            context.save_for_backward(slope)
            return y

        @staticmethod
        def backward(context, gradient):
            return gradient * context.saved_tensors[0]

    x = torch.linspace(-3, 3, 1001, device="cuda" if torch.cuda.is_available() else "cpu", requires_grad=True)
    Gelu.apply(x).sum().backward()
    other = x.detach().clone().requires_grad_()
    torch.nn.functional.gelu(other, approximate="tanh").sum().backward()
    print(f"PyTorch on {x.device}: gradients differ by at most {(x.grad - other.grad).abs().max().item():.1e}")


def with_numpy(numpy):
    x = numpy.linspace(-3, 3, 1001)
    y, slope = (
        numpy.from_dlpack(Lent(c, x.__dlpack_device__())) for c in ingot_example.gelu(x.__dlpack__(), 0)
    )
    exact = 0.5 * x * (1 + numpy.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    print(f"NumPy: values differ by at most {abs(y - exact).max():.1e},", end=" ")
    print(f"slopes by at most {abs(slope - numpy.gradient(exact, x))[1:-1].max():.1e}")


try:
    import torch
except ImportError:
    import numpy

    with_numpy(numpy)
else:
    with_torch(torch)
