"""Which models are on this machine: those with a name, and other folders in home/models."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lexichord.errors import ConfigError, NotFoundError, ProviderError
from lexichord.providers.embed.local import LOCAL_MODEL, find_model, find_packaged_model, made_of
from lexichord.providers.hub import POOLING_FILE, scratch_folder
from lexichord.providers.models import (
    INT8,
    MODELS,
    PREFERRED,
    ModelKind,
    NamedModel,
    find_named,
    no_such_model,
)
from lexichord.providers.onnx_folder import STATIC_FILE, find_folder, holds_model, read_settings
from lexichord.providers.rerank.folder import find_token_form
from lexichord.settings import Settings

DIMENSIONS = ("word_embedding_dimension", "embedding_dimension")  # older and newer spelling


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model, and where it is; `folder` is None for one that is not on this machine.

    `setting` names it: an embedder's space, with DIMENSION where its files do not tell that, or a
    reranker. `megabytes` is what its folder takes, else what is fetched. Of a folder without a
    name in the table `languages` and `licence` are not known.
    """

    name: str
    kind: ModelKind
    setting: str
    folder: Path | None
    megabytes: int
    languages: tuple[str, ...] | None = None
    licence: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self) | {"folder": self.folder and str(self.folder)}


def list_models(settings: Settings) -> list[ListedModel]:
    """Return the models of the table, then other folders with a model in home/models.

    Raises ConfigError if the setting `model_dir` names a folder without a model.
    """
    named = [_list_named(settings, model) for model in MODELS.values()]
    return [*named, *_list_others(settings.home)]


def best_embedder(settings: Settings, languages: Counter[str]) -> NamedModel | None:
    """Return the model on this machine that knows most of the documents, counted by language.

    Of several the best one, by `PREFERRED`. None where no model of the table is here.
    """
    named = (MODELS[name] for name in PREFERRED)
    here = [model for model in named if _named_folder(settings, model)]

    def read(model: NamedModel) -> int:
        return sum(languages[language] for language in model.languages)

    return max(here, key=read, default=None)  # the first of those that know as many


def find_listed(settings: Settings, name: str) -> tuple[ListedModel, NamedModel | None]:
    """Return a model of the list, with what the table knows of it. Raises NotFoundError."""
    model = find_named(name)
    if model:
        return _list_named(settings, model), model
    others = {each.name: each for each in _list_others(settings.home)}
    if name not in others:
        raise no_such_model(name, others)
    return others[name], None


def usage(model: ListedModel) -> list[str]:
    """Return the commands and settings that use a model; the first that fetches it, if need be."""
    named = find_named(model.name)
    is_fetched = model.folder is None and not (named and named.unfit)
    fetch = [f"lexichord models fetch {model.name}"] if is_fetched else []
    if model.kind == "reranker":
        return [*fetch, f"LEXICHORD_RERANKER={model.setting}"]
    return [
        *fetch,
        f"lexichord init --embedding {model.setting}",
        f"lexichord reembed --to {model.setting}",
    ]


def find_removable(settings: Settings, name: str) -> list[Path]:
    """Return a model's folder in home/models, with what was made and what was left of it.

    Made of it are graphs that are kept beside it, left what an unfinished fetch brought.

    Raises NotFoundError where there is neither, ConfigError for a model that is elsewhere.
    """
    unfinished = scratch_folder(settings.home, name)
    left = [unfinished] if unfinished.is_dir() else []
    try:
        own = _own_folder(settings, name)
    except ConfigError:
        if left:
            return left
        raise
    return [own, *left, *made_of(own, settings.home / "models")]


def _own_folder(settings: Settings, name: str) -> Path:
    listed, _ = find_listed(settings, name)
    models = settings.home / "models"
    if listed.folder is None:
        place = models / listed.name
        raise NotFoundError(f"{listed.name} is not on this machine: there is no model in '{place}'")
    if models.resolve() not in listed.folder.resolve().parents:
        raise ConfigError(
            f"{listed.name} is in '{listed.folder}', not in '{models}': remove it where it came "
            "from, as the package that brings it"
        )
    return listed.folder


def remove(home: Path, removable: Iterable[Path]) -> None:
    """Delete folders and files, and an owner's folder that is empty then. Raises ProviderError."""
    for folder in removable:
        try:
            if folder.is_dir():
                shutil.rmtree(folder)
            else:
                folder.unlink(missing_ok=True)
            if folder.parent != home / "models" and not any(folder.parent.iterdir()):
                folder.parent.rmdir()
        except OSError as error:
            raise ProviderError(f"'{folder}' cannot be deleted: {error}") from error


def is_named(settings: Settings, name: str) -> bool:
    """Return whether the settings name a model, as embedder or reranker."""
    model = find_named(name)
    setting = f"local/{model.name if model else name}"
    space, reranker = settings.embedding or "", settings.reranker
    return reranker == setting or space.rpartition("/")[0].removesuffix(INT8) == setting


def is_embedder_of(settings: Settings, folder: Path, space: str) -> bool:
    """Return whether a folder in the home holds the model of a space, and no other place does."""
    provider, _, model = space.rpartition("/")[0].partition("/")
    if provider != "local" or settings.model_dir is not None:
        return False
    whole = model.removesuffix(INT8)
    if whole == LOCAL_MODEL and find_packaged_model():
        return False
    named = (find_folder(each, settings.home, None, STATIC_FILE) for each in (model, whole))
    return next(filter(None, named), None) == folder


def _list_named(settings: Settings, model: NamedModel) -> ListedModel:
    folder = _named_folder(settings, model)
    return ListedModel(
        model.name,
        model.kind,
        model.setting,
        folder,
        megabytes(folder) if folder else model.megabytes,
        model.languages,
        model.licence,
    )


def _named_folder(settings: Settings, model: NamedModel) -> Path | None:
    if model.name != LOCAL_MODEL:
        return find_folder(model.name, settings.home, None, STATIC_FILE)
    elsewhere = settings.model_dir
    if elsewhere and holds_model(elsewhere):  # of another model, which it may be as well
        elsewhere = None
    return find_model(elsewhere, settings.home)


def _list_others(home: Path) -> list[ListedModel]:
    models = home / "models"
    return [
        ListedModel(
            name := folder.relative_to(models).as_posix(),
            kind := _kind(folder),
            f"local/{name}" + ("" if kind == "reranker" else f"/{_dimension(folder)}"),
            folder,
            megabytes(folder),
        )
        for folder in _other_folders(models)
    ]


def _other_folders(models: Path) -> Iterator[Path]:
    """Yield the folders with a model that have no name in the table: NAME, or OWNER/NAME."""
    for folder in sorted(models.glob("[!.]*/")):
        if holds_model(folder, (STATIC_FILE,)):
            if folder.name not in MODELS:
                yield folder
        else:
            owned = sorted(folder.glob("[!.]*/"))
            yield from (each for each in owned if holds_model(each, (STATIC_FILE,)))


def _kind(folder: Path) -> ModelKind:
    """Return what a folder's files say it is: a model with a ranking's form or head, or not."""
    heads = _settings(folder / "config.json").get("architectures") or [""]
    try:
        has_form = find_token_form(folder) is not None
    except (OSError, ValueError):  # told when it is opened
        has_form = False
    is_ranking = has_form or str(heads[0]).endswith("ForSequenceClassification")
    return "reranker" if is_ranking else "embedder"


def _dimension(folder: Path) -> str:
    pooling = _settings(folder / POOLING_FILE)
    told = [pooling.get(name) for name in DIMENSIONS]
    told.append(_settings(folder / "config.json").get("hidden_size"))
    return next((str(number) for number in told if number), "DIMENSION")


def _settings(file: Path) -> dict[str, Any]:
    try:
        return read_settings(file)
    except (OSError, ValueError):  # told when the model is opened
        return {}


def megabytes(*places: Path) -> int:
    """Return what files and folders take, in millions of bytes."""
    within = (each for place in places for each in (place, *place.rglob("*")))
    return round(sum(each.stat().st_size for each in within if each.is_file()) / 1e6)
