"""Buckets and servers as folders: listed and read by fsspec's drivers, each with its own login."""
