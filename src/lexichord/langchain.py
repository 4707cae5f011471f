"""A retriever for LangChain."""
