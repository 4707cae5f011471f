"""`similar`, a tool of our own: the documents most like a stored one."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from lexichord.errors import ConfigError, some_names
from lexichord.serve.compat.kbbridge.folders import (
    DatasetArgument,
    FilterArgument,
    Folder,
    TextArgument,
    documents_in,
    named_documents,
    scope_options,
)
from lexichord.serve.compat.kbbridge.shapes import short_names
from lexichord.serve.limits import TOOL_SECONDS, served_bounds
from lexichord.serve.mcp.calls import SourceLink, TimeoutArgument, ToolCaller, ToolOutput

NamedArgument = Annotated[
    TextArgument, Field(min_length=1, description="A name as in other results, an id or a uri.")
]
CountArgument = Annotated[int, Field(**served_bounds("k"))]
SIMILAR_DOCUMENTS = 5


class SimilarDocument(BaseModel):
    """A document, its score and what is known of it."""

    document_name: str
    document_id: str
    dataset: str
    uri: str
    title: str
    score: Annotated[float, Field(description="Cosine similarity.")]
    metadata: dict[str, Any]


class SimilarOutput(ToolOutput):
    """What `similar` returns, best first."""

    documents: list[SimilarDocument] = Field(default=[])

    def links(self) -> list[SourceLink]:
        """Return the documents."""
        return [
            SourceLink(f"document://{each.document_id}", each.document_name)
            for each in self.documents
        ]


async def similar(
    caller: ToolCaller,
    document_name: NamedArgument,
    dataset_id: DatasetArgument = "",
    top_k: CountArgument = SIMILAR_DOCUMENTS,
    filter: FilterArgument = None,
    timeout_seconds: TimeoutArgument = TOOL_SECONDS,
) -> SimilarOutput:
    """Find the documents most like a stored one, with their metadata."""
    folder = Folder(dataset_id)
    meant = named_documents(await documents_in(caller.scoped, folder), document_name)
    if len(meant) > 1:
        names = some_names(short_names(row.uri for row in meant).values(), [document_name])
        raise ConfigError(f"'{document_name}' means {len(meant)} documents: name one, as {names}")
    options = await scope_options(caller.scoped, [folder], filter=filter)
    result = await caller.scoped.similar(meant[0].document_id, k=top_k, **options)
    names_by_uri = short_names(file.uri for file in result.files)
    documents = [
        SimilarDocument(
            document_name=names_by_uri[file.uri],
            document_id=file.document_id,
            dataset=file.dataset,
            uri=file.uri,
            title=file.title,
            score=file.score,
            metadata=dict(file.metadata or {}),
        )
        for file in result.files
    ]
    return SimilarOutput(documents=documents, degraded=result.degraded)
