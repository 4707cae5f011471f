"""Question in, evidence out."""
