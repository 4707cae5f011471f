"""The weights of lexichord's reader, in ONNX, with its tokenizer and what was fitted with it."""
