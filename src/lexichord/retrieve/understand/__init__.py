"""A question in; its intent, the documents meant and its parts out."""
