"""What a program holds: the async client and its sync façade, on one database."""
