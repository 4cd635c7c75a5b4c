"""The llada architecture at toy size, written for training speed on a CPU.

Pre-norm transformer without attention mask or biases, rope on adjacent pairs, SwiGLU. The norms
carry no trained weights (the matrices after them can hold any scale); the export writes ones.
Matrices of one shape are stacked, so that the optimizer treats them in one batched product.
"""

import torch
import torch.nn.functional as F


def has_bfloat16_products():
    """Whether this processor multiplies BF16 in hardware (three times as fast as F32)."""
    try:
        with open("/proc/cpuinfo") as file:
            return "avx512_bf16" in file.read()
    except OSError:
        return False


PRODUCT_TYPE = torch.bfloat16 if has_bfloat16_products() else torch.float32
HIDDEN, HEADS, FFN, LAYERS = 256, 4, 512, 4
HEAD_DIM = HIDDEN // HEADS
ROPE_BASE, EPSILON = 10000.0, 1e-5
LONGEST = 160


class Norm(torch.autograd.Function):
    """x / rms(x), with fewer passes over memory than autograd would make."""

    @staticmethod
    def forward(ctx, x):
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True).add_(EPSILON))
        y = x * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, scale = ctx.saved_tensors
        return torch.addcmul(grad, y, (grad * y).mean(-1, keepdim=True), value=-1).mul_(scale)


class Linear(torch.autograd.Function):
    """x @ weight.T with factors rounded to PRODUCT_TYPE; weights and gradients are kept in F32."""

    @staticmethod
    def forward(ctx, x, weight):
        x, weight = x.to(PRODUCT_TYPE), weight.to(PRODUCT_TYPE)
        ctx.save_for_backward(x, weight)
        return F.linear(x, weight).float()

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        grad = grad.to(PRODUCT_TYPE)
        rows, wide = grad.flatten(0, -2), x.flatten(0, -2)
        return (grad @ weight).float(), (rows.t() @ wide).float()


def rope_table():
    rates = ROPE_BASE ** (-torch.arange(0, HEAD_DIM, 2).double() / HEAD_DIM)
    angles = torch.outer(torch.arange(LONGEST).double(), rates)
    return torch.polar(torch.ones_like(angles), angles).to(torch.complex64)


def rotate(x, table):
    """x [sequences, length, heads, head dim]; pairs (2i, 2i + 1) turn by position."""
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], HEAD_DIM // 2, 2))
    return torch.view_as_real(pairs * table[:x.shape[1], None]).flatten(-2)


class DemoModel(torch.nn.Module):
    def __init__(self, vocab):
        super().__init__()
        near = HIDDEN ** -0.5
        self.embedding = torch.nn.Parameter(torch.randn(vocab, HIDDEN) * 0.5)
        self.head = torch.nn.Parameter(torch.randn(vocab, HIDDEN) * near * 0.1)
        # Matrices of one shape lie in one stack; the leaves of autograd are views into it, and
        # their gradients views into a stack of gradients, so that no step copies either.
        # [layer, query/key/value/output, out, in] and [layer, gate/up/down transposed, ffn, hidden]
        self.register_buffer("attention", torch.randn(LAYERS, 4, HIDDEN, HIDDEN) * near)
        self.register_buffer("ffn", torch.randn(LAYERS, 3, FFN, HIDDEN) * near)
        self.attention[:, 3] *= 0.1
        self.ffn[:, 2] *= 0.1
        self.gradients = [torch.zeros_like(stack) for stack in self.stacks()]
        for tensor in self.stacks() + [self.embedding, self.head]:
            tensor.share_memory_()
        self.qkv = self.leaves(0, slice(0, 3))
        self.out = self.leaves(0, slice(3, 4))
        self.gate_up = self.leaves(1, slice(0, 2))
        self.down = self.leaves(1, slice(2, 3))
        self.register_buffer("table", rope_table(), persistent=False)

    def stacks(self):
        return [self.attention, self.ffn]

    def leaves(self, stack, parts):
        """Per layer one matrix [rows of the parts, hidden] that autograd can fill."""
        made = []
        for layer in range(LAYERS):
            leaf = self.stacks()[stack][layer, parts].view(-1, HIDDEN).detach().requires_grad_()
            leaf.grad = self.gradients[stack][layer, parts].view(-1, HIDDEN)
            made.append(leaf)
        return made

    def zero_gradients(self):
        for gradient in self.gradients:
            gradient.zero_()

    def attend(self, x, layer):
        n, length, _ = x.shape
        h = Norm.apply(x)
        q, k, v = Linear.apply(h, self.qkv[layer]).view(
            n, length, 3, HEADS, HEAD_DIM).unbind(2)
        q = rotate(q, self.table).transpose(1, 2)
        k = rotate(k, self.table).transpose(1, 2)
        scores = q @ (k * HEAD_DIM ** -0.5).transpose(-1, -2)
        mixed = scores.softmax(-1) @ v.transpose(1, 2)
        return mixed.transpose(1, 2).reshape(n, length, HIDDEN)

    def feed(self, x, layer):
        gate, up = Linear.apply(Norm.apply(x), self.gate_up[layer]).chunk(2, -1)
        return x + Linear.apply(F.silu(gate) * up, self.down[layer].t())

    def forward(self, ids, rows):
        """ids [sequences, length]; rows [wanted] into the flattened positions.
        Returns logits [wanted, vocab]; the last layer runs for the wanted rows alone."""
        x = F.embedding(ids, self.embedding)
        for layer in range(LAYERS):
            mixed = self.attend(x, layer)
            if layer == LAYERS - 1:
                mixed, x = mixed.flatten(0, 1)[rows], x.flatten(0, 1)[rows]
            x = self.feed(x + Linear.apply(mixed, self.out[layer]), layer)
        return F.linear(Norm.apply(x), self.head)


def orthogonalized(update, steps=4):
    """Nearly the closest matrices with orthonormal columns to update [batch, tall, wide], by the
    quintic Newton-Schulz iteration of the Muon optimizer (K. Jordan, 2024)."""
    x = update / (update.flatten(1).norm(dim=1).view(-1, 1, 1) + 1e-7)
    x = x.to(PRODUCT_TYPE)
    a, b, c = 3.4445, -4.7750, 2.0315
    for _ in range(steps):
        square = x.transpose(1, 2) @ x
        x = a * x + x @ torch.baddbmm(square, square, square, beta=b, alpha=c)
    return x.float()


class Muon:
    """Momentum whose update is orthogonalized, for stacks of matrices [..., tall, wide]."""

    def __init__(self, stacks, gradients, momentum=0.95):
        self.stacks, self.gradients, self.momentum = stacks, gradients, momentum
        self.velocity = [torch.zeros_like(stack).share_memory_() for stack in stacks]

    @torch.no_grad()
    def step(self, rate, which):
        """Updates stack number `which` from its gradient."""
        stack, gradient, velocity = (self.stacks[which], self.gradients[which],
                                     self.velocity[which])
        velocity.mul_(self.momentum).add_(gradient)
        ahead = gradient.add(velocity, alpha=self.momentum)
        update = orthogonalized(ahead.flatten(0, -3)).view_as(stack)
        stretch = (stack.shape[-2] / stack.shape[-1]) ** 0.5
        stack.mul_(1 - rate * 0.01).add_(update, alpha=-rate * stretch)
