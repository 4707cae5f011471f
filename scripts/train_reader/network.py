"""The reader's network: BERT's encoder with a head for spans and one for "not here"."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, INNER, PLACES = 384, 12, 1536, 512


class Layer(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, 1e-12)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, 1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        rows, length, _ = x.shape
        parts = self.qkv(x).view(rows, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(rows, length, WIDTH)
        x = self.norm1(x + self.dropout(self.out(mixed)))
        inner = self.down(functional.gelu(self.up(x)))
        return self.norm2(x + self.dropout(inner))


class Reader(nn.Module):
    """Give for each token how well an answer starts and ends there, and whether one is there."""

    def __init__(self, words: int, layers: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = nn.Embedding(words, WIDTH)
        self.places = nn.Embedding(PLACES, WIDTH)
        self.parts = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(layers))
        self.span = nn.Linear(WIDTH, 2)
        self.here = nn.Linear(WIDTH, 1)

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logits of start and end, rows × tokens, and of "an answer is here", rows."""
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        x = self.words(ids) + self.places(places) + self.parts(types)
        x = self.dropout(self.norm(x))
        hidden = (1.0 - mask[:, None, None, :].to(x.dtype)) * -1e4
        for layer in self.layers:
            x = layer(x, hidden)
        start, end = self.span(x).unbind(-1)
        return start, end, self.here(x[:, 0]).squeeze(-1)


def load_encoder(reader: Reader, file: Path) -> None:
    """Start from the weights of a BERT encoder, its first layers where the reader has fewer."""
    kept = load_file(file)

    def copy(module: nn.Module, name: str) -> None:
        for part, parameter in module.named_parameters():
            parameter.data.copy_(kept[f"{name}.{part}"])

    copy(reader.words, "embeddings.word_embeddings")
    copy(reader.places, "embeddings.position_embeddings")
    copy(reader.parts, "embeddings.token_type_embeddings")
    copy(reader.norm, "embeddings.LayerNorm")
    for number, layer in enumerate(reader.layers):
        name = f"encoder.layer.{number}"
        for part in ("weight", "bias"):
            three = [kept[f"{name}.attention.self.{x}.{part}"] for x in ("query", "key", "value")]
            getattr(layer.qkv, part).data.copy_(torch.cat(three))
        copy(layer.out, f"{name}.attention.output.dense")
        copy(layer.norm1, f"{name}.attention.output.LayerNorm")
        copy(layer.up, f"{name}.intermediate.dense")
        copy(layer.down, f"{name}.output.dense")
        copy(layer.norm2, f"{name}.output.LayerNorm")


def read_checkpoint(file: Path, layers: int) -> Reader:
    """Return the reader that training stored."""
    kept = torch.load(file)["reader"]
    reader = Reader(len(kept["words.weight"]), layers)
    reader.load_state_dict(kept)
    return reader
