"""Sets of questions in, numbers out: how good retrieval is, and what each stage gives."""
