"""The pages by which documents are brought, looked after and deleted; a reading key has none."""

import json
from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response, UploadFile
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData
from starlette.datastructures import UploadFile as SentFile

from lexichord.errors import ConfigError, NotFoundError
from lexichord.ingest.report import Report, RunCallbacks
from lexichord.serve.access import ScopedClient
from lexichord.serve.http.bodies import WHOLE_NUMBER, parse_object
from lexichord.serve.http.jobs import JobRunner
from lexichord.serve.http.routes import ingest_call
from lexichord.serve.limits import (
    MANAGED_DOCUMENTS,
    MAX_NAME_CHARS,
    MAX_UPLOAD_FILES,
    MAX_UPLOAD_METADATA_CHARS,
)
from lexichord.serve.page import (
    PAGE_HEADERS,
    own_form,
    own_form_data,
    page,
    page_caller,
    sentence,
)
from lexichord.serve.page.language import say
from lexichord.serve.page.routes import PAGE_METHODS, PageRoute
from lexichord.serve.permissions import Deed
from lexichord.types import Json, StoredDocument
from lexichord.types.base import check_name

SHOWN_RUNS = 5  # of the latest

router = APIRouter(route_class=PageRoute, include_in_schema=False)


async def _caller(request: Request, *deeds: Deed) -> ScopedClient:
    """Return who looks at a page. Raises MissingScopeError unless one of the deeds is allowed."""
    scoped = await page_caller(request)
    scoped.check_any(*deeds)
    return scoped


@router.api_route("/documents", methods=PAGE_METHODS)
async def manage(request: Request) -> Response:
    """Show the datasets, the documents of one, and the form that takes files."""
    caller = await _caller(request, "write", "delete")
    return await _show(request, caller, request.query_params.get("dataset", ""))


async def _show(
    request: Request, caller: ScopedClient, dataset: str, wanted: str = "", message: str = ""
) -> Response:
    """Show a dataset, or none; `wanted` is to be sent to, unless there was a `message`."""
    rows = await caller.datasets()
    reach = caller.rights.datasets
    number, total, documents = _page_number(request), 0, list[StoredDocument]()
    if dataset:
        total = await caller.count(datasets=[dataset])
        first = (number - 1) * MANAGED_DOCUMENTS
        documents = await caller.list(limit=MANAGED_DOCUMENTS, offset=first, datasets=[dataset])
    return page(
        request,
        "documents.html",
        400 if message else 200,
        rows=rows,
        dataset=dataset,
        documents=documents,
        number=number,
        pages=-(-total // MANAGED_DOCUMENTS),
        names=_names(caller, rows),
        wanted=wanted or dataset or ("default" if reach is None else reach[0]),
        message=message,
        runs=await caller.jobs(SHOWN_RUNS),
        max_bytes=request.app.state.policy.settings.max_body,
        max_files=MAX_UPLOAD_FILES,
        hosts=caller.settings.fetch_hosts,
        max_name=MAX_NAME_CHARS,
    )


def _names(caller: ScopedClient, rows: Sequence[Json]) -> list[str]:
    """Return the datasets that a caller may fill, those of its reach that are not there, too."""
    reach = caller.rights.datasets
    return [row["dataset"] for row in rows] if reach is None else sorted(reach)


def _page_number(request: Request) -> int:
    text = request.query_params.get("page", "1")
    return max(1, int(text)) if WHOLE_NUMBER.fullmatch(text) and len(text) < 8 else 1


@router.post("/documents/upload")
async def upload(request: Request) -> Response:
    """Begin to store the files of a form, and go on to the page that shows how far it is."""
    caller = await _caller(request, "write")
    dataset = ""
    try:
        form = await own_form_data(request, MAX_UPLOAD_FILES)
        dataset = str(form.get("dataset", "")).strip()
        run = await _store(request, caller, form, dataset)
    except ConfigError as error:
        return await _show(request, caller, "", dataset[:MAX_NAME_CHARS], sentence(error))
    finally:
        await request.close()
    return _go(f"/documents/runs/{run}")


@router.post("/documents/fetch")
async def fetch(request: Request) -> Response:
    """Begin to store what addresses name, and go on to the page that shows how far it is."""
    caller = await _caller(request, "write")
    form = await own_form(request)
    dataset = form.get("dataset", "").strip()
    runner: JobRunner = request.app.state.jobs
    try:
        _check_name(dataset)
        caller.check_writes(dataset)
        urls = form.get("urls", "").split()
        ingest = ingest_call(caller, [], dataset, "keep" in form, {}, urls)
        run = await runner.start(ingest, caller.rights.key_id)
    except ConfigError as error:
        return await _show(request, caller, "", dataset[:MAX_NAME_CHARS], sentence(error))
    return _go(f"/documents/runs/{run}")


@router.post("/documents/new-dataset")
async def new_dataset(request: Request) -> Response:
    """Make an empty dataset."""
    caller = await _caller(request, "write")
    dataset = (await own_form(request)).get("dataset", "").strip()
    try:
        _check_name(dataset)
        if not await caller.define_dataset(dataset, {}, anew=True):
            raise ConfigError(say("error.dataset_there"))
    except ConfigError as error:
        return await _show(request, caller, "", dataset[:MAX_NAME_CHARS], sentence(error))
    return _go("/documents", dataset=dataset)


def _check_name(dataset: str) -> None:
    wrong = ConfigError(say("error.dataset_name", count=MAX_NAME_CHARS))
    if len(dataset) > MAX_NAME_CHARS:
        raise wrong
    try:
        check_name("dataset", dataset)
    except ConfigError:
        raise wrong from None


async def _store(request: Request, caller: ScopedClient, form: FormData, dataset: str) -> int:
    _check_name(dataset)
    caller.check_writes(dataset)
    files = [file for file in form.getlist("files") if isinstance(file, SentFile) and file.filename]
    if not files:
        raise ConfigError(say("error.choose_file"))
    sent = [UploadFile(file.file, filename=file.filename, headers=file.headers) for file in files]
    runner: JobRunner = request.app.state.jobs
    ingest = ingest_call(caller, sent, dataset, "keep" in form, {})
    return await runner.start(ingest, caller.rights.key_id)


@router.api_route("/documents/delete", methods=PAGE_METHODS)
async def ask_to_delete(request: Request) -> Response:
    """Ask whether a document is to go, and say what goes with it."""
    caller = await _caller(request, "delete")
    document = await _find(caller, request.query_params.get("document", ""))
    return page(request, "delete_document.html", document=document)


@router.post("/documents/delete")
async def delete(request: Request) -> Response:
    """Delete a document."""
    caller = await _caller(request, "delete")
    form = await own_form(request)
    await caller.delete([form.get("document", "")])
    return _go("/documents", dataset=form.get("dataset", ""))


@router.api_route("/documents/delete-dataset", methods=PAGE_METHODS)
async def ask_to_delete_dataset(request: Request) -> Response:
    """Ask whether a dataset is to go with all its documents."""
    caller = await _caller(request, "delete")
    dataset = request.query_params.get("dataset", "")
    await caller.count(datasets=[dataset])  # which fails where there is none, or it is not reached
    (row,) = (row for row in await caller.datasets() if row["dataset"] == dataset)
    return page(request, "delete_dataset.html", row=row)


@router.post("/documents/delete-dataset")
async def delete_dataset(request: Request) -> Response:
    """Delete a dataset with all its documents."""
    caller = await _caller(request, "delete")
    form = await own_form(request)
    await caller.delete_dataset(form.get("dataset", ""))
    return _go("/documents")


@router.api_route("/documents/move", methods=PAGE_METHODS)
async def ask_where_to_move(request: Request) -> Response:
    """Ask into which dataset a document is to go."""
    caller = await _caller(request, "write", "delete")
    document = await _find(caller, request.query_params.get("document", ""))
    return await _move_page(request, caller, document)


@router.post("/documents/move")
async def move(request: Request) -> Response:
    """Move a document into another dataset."""
    caller = await _caller(request, "write", "delete")
    form = await own_form(request)
    document = await _find(caller, form.get("document", ""))
    dataset = form.get("dataset", "").strip()
    try:
        _check_name(dataset)
        await caller.move([document.document_id], dataset)
    except ConfigError as error:
        return await _move_page(request, caller, document, dataset, sentence(error))
    return _go("/documents", dataset=dataset)


async def _move_page(
    request: Request,
    caller: ScopedClient,
    document: StoredDocument,
    wanted: str = "",
    message: str = "",
) -> Response:
    caller.check_all("write", "delete")
    shown = {"document": document, "wanted": wanted[:MAX_NAME_CHARS], "message": message}
    names = _names(caller, await caller.datasets())
    status = 400 if message else 200
    return page(request, "move.html", status, **shown, names=names, max_name=MAX_NAME_CHARS)


@router.api_route("/documents/reread", methods=PAGE_METHODS)
async def ask_to_read_again(request: Request) -> Response:
    """Ask whether a document is to be read again, and say what becomes of it."""
    caller = await _caller(request, "write")
    document = await _find(caller, request.query_params.get("document", ""))
    return page(request, "reread.html", document=document, message="")


@router.post("/documents/reread")
async def reread(request: Request) -> Response:
    """Begin to read a document again, and go on to the page that shows how far it is."""
    caller = await _caller(request, "write")
    document = await _find(caller, (await own_form(request)).get("document", ""))
    runner: JobRunner = request.app.state.jobs
    try:
        ingest = partial(_reread, caller, document.document_id)
        run = await runner.start(ingest, caller.rights.key_id)
    except ConfigError as error:
        return page(request, "reread.html", 400, document=document, message=sentence(error))
    return _go(f"/documents/runs/{run}")


async def _reread(caller: ScopedClient, document: str, callbacks: RunCallbacks) -> Report:
    return await caller.reread(document, **callbacks)


@router.api_route("/documents/rename-dataset", methods=PAGE_METHODS)
async def ask_for_a_name(request: Request) -> Response:
    """Ask for the name that a dataset is to have."""
    caller = await _caller(request, "write")
    dataset = request.query_params.get("dataset", "")
    await caller.count(datasets=[dataset])  # which fails where there is none, or it is not reached
    return _name_page(request, dataset, dataset)


@router.post("/documents/rename-dataset")
async def rename_dataset(request: Request) -> Response:
    """Give a dataset another name."""
    caller = await _caller(request, "write")
    form = await own_form(request)
    dataset, new_name = form.get("dataset", ""), form.get("new_name", "").strip()
    try:
        _check_name(new_name)
        await caller.rename_dataset(dataset, new_name)
    except NotFoundError:
        raise
    except ConfigError as error:
        return _name_page(request, dataset, new_name[:MAX_NAME_CHARS], sentence(error))
    return _go("/documents", dataset=new_name)


def _name_page(request: Request, dataset: str, wanted: str, message: str = "") -> Response:
    shown = {"dataset": dataset, "wanted": wanted, "message": message, "max_name": MAX_NAME_CHARS}
    return page(request, "rename_dataset.html", 400 if message else 200, **shown)


@router.api_route("/documents/metadata", methods=PAGE_METHODS)
async def edit_metadata(request: Request) -> Response:
    """Show a document's metadata to be changed."""
    caller = await _caller(request, "write")
    document = await _find(caller, request.query_params.get("document", ""))
    text = _json_text(document.metadata)
    return page(request, "metadata.html", document=document, text=text, before=text, message="")


@router.post("/documents/metadata")
async def set_metadata(request: Request) -> Response:
    """Change what was changed in the form, and leave what others changed meanwhile."""
    caller = await _caller(request, "write")
    form = await own_form(request)
    document = await _find(caller, form.get("document", ""))
    text, shown = form.get("metadata", ""), form.get("before", "{}")
    try:
        if len(text) > MAX_UPLOAD_METADATA_CHARS:
            raise ConfigError(say("error.metadata_length", count=MAX_UPLOAD_METADATA_CHARS))
        before = parse_object("before", shown)
        after = parse_object("metadata", text)
        await caller.set_metadata(document.document_id, metadata_changes(before, after))
    except ConfigError as error:
        again = {"document": document, "text": text, "before": shown}
        return page(request, "metadata.html", 400, message=sentence(error), **again)
    return _go(f"/document/{document.document_id}")


def metadata_changes(before: Json, after: Json) -> Json:
    """Return the keys whose values differ, None for those that are gone."""
    gone = dict.fromkeys(before.keys() - after.keys())
    return gone | {key: value for key, value in after.items() if before.get(key) != value}


def _json_text(metadata: Json) -> str:
    return json.dumps(metadata, ensure_ascii=False, indent=2)


async def _find(caller: ScopedClient, document: str) -> StoredDocument:
    """Return a document without its text. Raises NotFoundError."""
    (row,) = await caller.list(documents=[document])
    return row


def _go(path: str, **params: str) -> Response:
    """Lead to a page of ours, so that nothing is sent again when it is loaded again."""
    query = urlencode({name: value for name, value in params.items() if value})
    return RedirectResponse(f"{path}?{query}" if query else path, 303, PAGE_HEADERS)
