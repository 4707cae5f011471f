"""Fetches models from the Hugging Face hub into home/models, by the hub's own library.

So what holds for that holds here: HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, proxies, its cache, which
is looked into first. A download that is cut off goes on where it was, at once and at a later fetch.
What goes wrong is told in one line each, with what to do.
"""

import errno
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexichord.errors import AuthError, ConfigError, LexichordError, ProviderError
from lexichord.providers.models import NamedModel, find_named, no_such_model
from lexichord.providers.onnx_folder import GRAPH_FILES, TOKENIZER_FILE, read_settings

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def telling(repository: str, folder: Path) -> Iterator[None]:
    """Raise ProviderError for what the hub's library raises in the block, ConfigError for a name.

    `folder` is where the model goes.
    """
    try:
        import httpx
        from huggingface_hub.errors import HFValidationError
    except ImportError as error:
        raise ProviderError(
            f"models are fetched by huggingface_hub ({error}): pip install 'lexichord[local]'"
        ) from error
    try:
        yield
    except HFValidationError as error:
        raise ConfigError(f"{repository!r} is no OWNER/NAME of the hub") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, RuntimeError) as error:
        raise _told(_cause(error), repository, folder) from error


def _cause(error: Exception) -> Exception:
    """Return why the hub's library found nothing in its cache instead, where that is the error."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    inner = error.__cause__
    is_outer = isinstance(error, LocalEntryNotFoundError) and isinstance(inner, Exception)
    return inner if is_outer and isinstance(inner, Exception) else error


def _told(error: Exception, repository: str, folder: Path) -> LexichordError:
    import httpx
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    reason = _first_line(error)
    if isinstance(error, HfHubHTTPError):
        return _answered(error, repository)
    if isinstance(error, OfflineModeIsEnabled):
        return ProviderError(f"cannot fetch {repository}: HF_HUB_OFFLINE is set, unset it")
    if isinstance(error, httpx.HTTPError | httpx.InvalidURL):
        return ProviderError(
            f"cannot fetch {repository} from {ENDPOINT} ({reason}): check the network and "
            f"HF_ENDPOINT, then fetch it again, or copy its files into '{folder}'"
        )
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return ProviderError(
            f"there is no room for {repository} in '{folder.parent}' ({error.strerror}): make "
            "some, or name another place by LEXICHORD_HOME, then fetch it again"
        )
    if isinstance(error, OSError) and error.errno is not None:
        return ProviderError(f"cannot store {repository} ({reason}): check that it can be written")
    return ProviderError(f"{repository} did not arrive whole ({reason}): fetch it again")


def _answered(error: Exception, repository: str) -> ProviderError:
    """Return the error for what the hub answered in place of a file."""
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    assert isinstance(error, HfHubHTTPError)
    status = error.response.status_code
    if isinstance(error, GatedRepoError):
        return AuthError(
            f"{repository} is given only to who accepts its terms: do so at "
            f"{ENDPOINT}/{repository}, and set HF_TOKEN to a token of yours"
        )
    if isinstance(error, RepositoryNotFoundError):
        return ProviderError(
            f"{ENDPOINT} has no repository {repository}, or a private one: check the name, or "
            "set HF_TOKEN to a token that may read it"
        )
    if status in (401, 403):
        return AuthError(f"{ENDPOINT} refuses the token ({status}): set HF_TOKEN to a valid one")
    if status == 404:
        return ProviderError(f"{repository} lacks a file ({_first_line(error)}): fetch it again")
    return ProviderError(f"{ENDPOINT} answers {status} for {repository}: fetch it again later")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].strip() or type(error).__name__


POOLING_FILE = "1_Pooling/config.json"
LENGTH_FILE = "sentence_bert_config.json"
PROMPTS_FILE = "config_sentence_transformers.json"
# What says how a model is to be asked; taken where the repository has it.
BESIDE = (
    *(POOLING_FILE, LENGTH_FILE, PROMPTS_FILE),
    *("config.json", "tokenizer_config.json", "onnx_config.json", "artifact.metadata"),
)

type FetchListener = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository, and where it goes in the model's folder.

    `size` in bytes and `digest`, as hexadecimal digits, are None where nobody tells them. The
    digest is sha256, or git's of a blob where the hub keeps the file in git itself.
    """

    name: str
    place: str
    size: int | None
    digest: str | None

    def is_intact(self, file: Path) -> bool:
        """Return whether a file is there and is this one, as far as that is known."""
        if not file.is_file() or self.size not in (None, file.stat().st_size):
            return False
        return self.digest in (None, _digest(file, self.digest))


def fetch_model(home: Path, name: str, listener: FetchListener) -> Path:
    """Fetch a model by its name, or as OWNER/NAME of the hub; return its folder in home/models.

    `listener` is called before each file that is downloaded, with its name and its bytes. A folder
    that is there already is replaced once all is there; what of it is intact is not fetched again.
    Raises ConfigError for a name that cannot be fetched, ProviderError for what goes wrong.
    """
    model = find_named(name)
    if model is None and "/" not in name:
        raise no_such_model(name, or_else=", or OWNER/NAME of the hub")
    folder = home / "models" / (model.name if model else name)
    if model and model.unfit:
        raise ConfigError(f"{model.repository} cannot be used: {model.unfit} into '{folder}'")
    fetch = _Fetch(model.repository if model else name, folder, scratch_folder(home, name))
    with telling(fetch.repository, folder), fetch.alone():
        fetch.take_files(model, listener)
        if model and model.weights.endswith(".onnx"):
            _write_settings(fetch.made, model)
        fetch.finish()
    return folder


def scratch_folder(home: Path, name: str) -> Path:
    """Return where a model is kept until it is complete; no setting's name leads there."""
    model = find_named(name)
    flat = (model.name if model else name).replace("/", "--")
    return home / "models" / f".{flat}.fetched"


@dataclass(frozen=True, slots=True)
class _Fetch:
    """One fetch of a repository into a folder, by way of a scratch folder beside it."""

    repository: str
    folder: Path
    scratch: Path

    @property
    def made(self) -> Path:
        """The folder as it will be."""
        return self.scratch / "model"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from fetching the same. Raises ProviderError if one does.

        Where nothing arrived by the end, nothing is left of it.
        """
        from filelock import FileLock, Timeout  # the hub's library has it

        self.scratch.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.scratch / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise ProviderError(
                f"another process is fetching {self.repository}: wait until it has"
            ) from error
        with lock:
            try:
                yield
            finally:
                self._clear_empty()

    def _clear_empty(self) -> None:
        """Delete the scratch folder where no byte is in it that a later fetch could go on from."""
        if not any(each.is_file() and each.stat().st_size for each in self.scratch.rglob("*")):
            shutil.rmtree(self.scratch, ignore_errors=True)

    def take_files(self, model: NamedModel | None, listener: FetchListener) -> None:
        """Bring all files into the folder that is made."""
        commit, files = _list_files(self.repository, model)
        for file in files:
            self._take(file, commit, listener)

    def _take(self, file: HubFile, commit: str | None, listener: FetchListener) -> None:
        target = self.made / file.place
        if file.digest and file.is_intact(target):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if present := self._find_present(file, commit):
            shutil.copyfile(present, target)
        else:
            listener(file.name, file.size or 0)
            self._download(file, commit).replace(target)

    def _find_present(self, file: HubFile, commit: str | None) -> Path | None:
        """Return an intact file of the folder that is replaced, or of the hub's cache, if any."""
        from huggingface_hub import try_to_load_from_cache

        own = self.folder / file.place
        if file.digest and file.is_intact(own):
            return own
        cached = try_to_load_from_cache(self.repository, file.name, revision=commit)
        found = Path(cached) if isinstance(cached, str) else None
        return found if found and file.is_intact(found) else None

    def _download(self, file: HubFile, commit: str | None) -> Path:
        """Download a file beside the model; return where it is. Raises ProviderError."""
        # hf_hub_download would begin anew what an earlier process had begun, for its lock may not
        # hold everywhere. Here a part is of one digest, and is compared with it when it is whole.
        part = self.scratch / f"{file.digest or 'unknown'}.part"
        if not file.digest:
            part.unlink(missing_ok=True)
        self._append(file, commit, part)
        if not file.is_intact(part):
            part.unlink()
            raise ProviderError(
                f"{file.name} of {self.repository} is not the file that it should be, by its "
                "digest: fetch it again, and if that stays, look at what HF_ENDPOINT names"
            )
        return part

    def _append(self, file: HubFile, commit: str | None, part: Path) -> None:
        from httpx import HTTPError
        from huggingface_hub import hf_hub_url
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        try:
            with part.open("ab") as stream:
                http_get(
                    hf_hub_url(self.repository, file.name, revision=commit),
                    stream,
                    resume_size=stream.tell(),
                    headers=build_hf_headers(),
                    expected_size=file.size,
                    displayed_filename=file.name,
                )
        except OSError as error:
            if not isinstance(error, HTTPError):  # no room, or an answer of another length
                part.unlink(missing_ok=True)
            raise

    def finish(self) -> None:
        """Put the folder in its place, instead of one that is there."""
        replaced = self.scratch / "replaced"
        shutil.rmtree(replaced, ignore_errors=True)  # of a fetch that was killed here
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        if self.folder.exists():
            self.folder.replace(replaced)
        self.made.replace(self.folder)
        shutil.rmtree(self.scratch, ignore_errors=True)


def _list_files(repository: str, model: NamedModel | None) -> tuple[str | None, list[HubFile]]:
    """Return a repository's present commit and what is to be fetched of it.

    Raises ProviderError if it holds no such model.
    """
    from huggingface_hub import HfApi, constants

    waits = constants.HF_HUB_DOWNLOAD_TIMEOUT
    try:
        info = HfApi().model_info(repository, files_metadata=True, timeout=waits)
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ProviderError(
            f"{constants.ENDPOINT} does not answer as a hub does: see what HF_ENDPOINT names"
        ) from error
    held = {each.rfilename: each for each in info.siblings or ()}
    weights = model.weights if model else next(filter(held.__contains__, GRAPH_FILES), None)
    if weights not in held or TOKENIZER_FILE not in held:
        needs = weights if model else " or ".join(GRAPH_FILES)
        raise ProviderError(
            f"{repository} does not hold both {needs} and {TOKENIZER_FILE}: take a repository "
            "that does, often onnx-community/NAME, or export the model to ONNX"
        )
    return info.sha, [_hub_file(held[name], model) for name in _wanted(held, weights)]


def _wanted(held: Iterable[str], weights: str) -> list[str]:
    """Return the names to fetch: an ONNX graph may have its weights in files beside it."""
    if not weights.endswith(".onnx"):
        return [weights, TOKENIZER_FILE]
    part = re.compile(re.escape(weights) + r"[_.]data(_\d+)?")
    parts = sorted(filter(part.fullmatch, held))
    return [weights, *parts, TOKENIZER_FILE, *(name for name in BESIDE if name in held)]


def _hub_file(held: "RepoSibling", model: NamedModel | None) -> HubFile:
    name = held.rfilename
    is_graph = model and name == model.weights and name.endswith(".onnx")
    place = GRAPH_FILES[1] if is_graph and name not in GRAPH_FILES else name
    told = held.lfs.sha256 if held.lfs else held.blob_id
    return HubFile(name, place, held.size, (model and model.digests.get(name)) or told)


def _digest(file: Path, like: str | None) -> str:
    """Return a file's digest, of the kind that one is: by its length sha256 or git's of a blob."""
    kind = hashlib.sha256()
    if like and len(like) == 40:
        kind = hashlib.sha1(b"blob %d\0" % file.stat().st_size, usedforsecurity=False)
    with file.open("rb") as stream:
        while slab := stream.read(1 << 20):
            kind.update(slab)
    return kind.hexdigest()


def _write_settings(folder: Path, model: NamedModel) -> None:
    """Write what the table says of a model where embedders and rerankers of folders look.

    The repository may say it in another form, or not at all.
    """
    is_first = model.pooling == "first token"
    if model.pooling:
        pooling = {"pooling_mode_cls_token": is_first, "pooling_mode_mean_tokens": not is_first}
        _add_settings(folder / POOLING_FILE, pooling)
        _add_settings(folder / LENGTH_FILE, {"max_seq_length": model.tokens})
    if model.prompts:
        _add_settings(folder / PROMPTS_FILE, {"prompts": dict(model.prompts)})


def _add_settings(file: Path, settings: dict[str, Any]) -> None:
    file.parent.mkdir(exist_ok=True)
    written = json.dumps(read_settings(file) | settings, indent=1) + "\n"
    file.write_text(written, encoding="utf-8")
