"""What a language model writes about where a chunk belongs in its document."""
