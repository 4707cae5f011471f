"""A retriever for LlamaIndex."""
