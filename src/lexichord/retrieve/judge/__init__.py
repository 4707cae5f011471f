"""Evidence in; how sure it is, and what it lacks, out."""
