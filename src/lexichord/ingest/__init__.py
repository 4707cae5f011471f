"""Files in, searchable chunks out."""
