"""OpenAI's API: vector stores, files, models, embeddings, responses; a store is a dataset."""

from fastapi import APIRouter

from lexichord.serve.compat.openai import files, models, responses, search, stores

router = APIRouter()
for part in (stores, files, search, models, responses):
    router.include_router(part.router)
