"""Small models that tests build: a tokenizer of whole words, and an ONNX graph over its tokens."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def save_tokenizer(
    folder: Path, words: Iterable[str], special: Sequence[str], by_signs: bool = False, **forms: str
) -> None:
    """Write a tokenizer that parts words at spaces, or at signs as well; `forms` have `special`."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    ids = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(ids, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    split = pre_tokenizers.BertPreTokenizer if by_signs else pre_tokenizers.WhitespaceSplit
    tokenizer.pre_tokenizer = split()
    tokenizer.post_processor = processors.TemplateProcessing(
        **forms, special_tokens=[(word, ids[word]) for word in special]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))


def node(operation: str, inputs: str, output: str, **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(operation, inputs.split(), [output], **attributes)


def save_graph(
    file: Path,
    nodes: Sequence[Any],
    outputs: Mapping[str, Sequence[str | int]],
    constants: Mapping[str, np.ndarray[Any, Any]],
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
) -> None:
    """Write a graph of the batch's tokens to named outputs, each of its shape."""
    from onnx import TensorProto, helper, numpy_helper, save

    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in inputs
        ],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in outputs.items()
        ],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opset = helper.make_opsetid("", 20)
    file.parent.mkdir(parents=True, exist_ok=True)
    save(helper.make_model(graph, opset_imports=[opset], ir_version=9), file)
