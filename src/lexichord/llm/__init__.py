"""A language model's twins of the pipeline's stages: of the same signature, and failing open."""
