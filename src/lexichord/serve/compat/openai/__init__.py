"""OpenAI's API: vector stores, files, models, embeddings, responses; a store is a dataset."""

from fastapi import APIRouter

from lexichord.serve.compat.openai import files, models, search, stores

router = APIRouter()
for part in (stores, files, search, models):
    router.include_router(part.router)
