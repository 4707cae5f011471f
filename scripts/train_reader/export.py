"""Write a trained reader as a folder: the graph in 8 bits, the tokenizer and what it was made of.

PYTHONPATH=scripts python -m train_reader.export --checkpoint FILE --start FOLDER --into FOLDER
    [--layers 6]

The graph takes input_ids, attention_mask and token_type_ids and gives start_logits, end_logits
and here_logits; the first two as any reader of SQuAD's form does, [CLS] standing for "not here".
"""

import argparse
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from train_reader.network import Reader, read_checkpoint

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = ("start_logits", "end_logits", "here_logits")


def write_graph(reader: Reader, file: Path) -> None:
    example = torch.ones(2, 32, dtype=torch.long)
    axes = {name: {0: "rows", 1: "tokens"} for name in (*INPUTS, *OUTPUTS[:2])}
    torch.onnx.export(
        reader.eval(),
        (example, example, torch.zeros_like(example)),
        str(file),
        input_names=list(INPUTS),
        output_names=list(OUTPUTS),
        dynamic_axes={**axes, OUTPUTS[2]: {0: "rows"}},
        opset_version=17,
        dynamo=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--whole", action="store_true", help="32 bits")
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    reader = read_checkpoint(arguments.checkpoint, arguments.layers)
    graph = arguments.into / "model.onnx"
    with TemporaryDirectory() as scratch:
        whole = Path(scratch, "whole.onnx")
        write_graph(reader, whole)
        if arguments.whole:
            shutil.copy(whole, graph)
        else:
            quantize_dynamic(
                whole,
                graph,
                per_channel=True,
                weight_type=QuantType.QInt8,
                op_types_to_quantize=["MatMul", "Gather"],
            )
    shutil.copy(arguments.start / "tokenizer.json", arguments.into)


if __name__ == "__main__":
    main()
