"""OpenAI's API: vector stores, files, models, embeddings, responses; a store is a dataset."""

from fastapi import APIRouter

from lexichord.serve.compat.openai import (
    batches,
    files,
    models,
    responses,
    search,
    store_files,
    stores,
)

router = APIRouter()
for part in (stores, store_files, batches, search, files, models, responses):
    router.include_router(part.router)
