"""Feed generated input to whatever takes input from outside; report what breaks, with its seed.

files      bytes of real files, damaged, to the reader and to the cutter of chunks
texts      generated text of each kind of markup, to the same
questions  generated questions, to what understands a question without a database
functions  generated arguments, to every SQL function
requests   wrong values in requests to a running server, by its OpenAPI document
calls      the same in messages to a running server of MCP, by its tools
slopes     the same text in 50 kB and 5 MB: what grows faster than its input

An input breaks something if it raises anything but lexichord's own errors (in SQL: the classes of
errors that blame the arguments), takes longer than its kind may, ends the process, or yields
chunks that are not where they say. What runs in this process is timed by its own processor time, so
that a busy machine makes nothing slow. `--only TARGET --first SEED --count 1` repeats one.

python scripts/break/fuzz.py [--only TARGET] [--first 0] [--count 1000] [--folder FOLDER]
                       [--server DSN] [--url http://127.0.0.1:PORT] [--mcp URL]
"""

import argparse
import multiprocessing
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from fuzz_requests import calls, requests
from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import LexichordError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.retrieve import values
from lexichord.retrieve.evidence.splitting import split_code, split_sentences
from lexichord.retrieve.understand import (
    aspects,
    find_cues,
    find_listed,
    find_sub_questions,
    intent,
    linking,
)
from lexichord.types import EmbeddingSpace

SAMPLES = Path(__file__).parents[2] / "samples"
MAX_SEED_FILE_BYTES = 200_000  # a larger one takes long to read when it is whole
SECONDS = {"files": 20.0, "texts": 5.0, "questions": 2.0, "functions": 10.0}
SECONDS |= {"requests": 40.0, "calls": 40.0}
ELSEWHERE = ("functions", "requests", "calls")  # what a server does
BATCH = 200  # inputs of a process
SLOPE_CHARS = (50_000, 500_000, 5_000_000)
SLOPE_SUFFIXES = (".md", ".txt", ".html", ".rst", ".py")
SLOPE_PATTERNS = "a¦a ¦# ¦- ¦| a ¦<b>¦[¦*¦`¦1. ¦(a) ¦\n¦> ¦(¦A."
MAX_SLOPE = 1.5  # of time over size, both as logarithms
SLOPE_SECONDS = 300.0
SUFFIXES = [
    *(".md", ".txt", ".rst", ".org", ".adoc", ".html", ".csv", ".tsv", ".json", ".ndjson", ".xml"),
    *(".py", ".eml", ".rtf", ".log", ".ipynb", ".mdx", ".ts", ".yaml"),
]
# What the rules of the package look for, so that their paths are met.
PATTERNS = (
    "# ¦## ¦\n\n¦\n¦\t¦ ¦  ¦- ¦* ¦1. ¦2. ¦(a) ¦(b) ¦"
    "(ii) ¦ARTICLE IV\n¦5.2 ¦§ 7 ¦¦ a ¦ b ¦\n¦¦---¦---¦"
    "\n¦```\n¦~~~¦:::¦!!! note\n¦<p>¦</p>¦<table>¦<tr>¦<td>¦"
    "</td>¦</table>¦<!--¦-->¦<b>¦[a](b)¦![x](y)¦[^1]¦: ¦**¦"
    "__¦`¦{#x}¦---\n¦+++\n¦title: x\n¦.. note::\n\n¦====\n¦"
    "----\n¦* * *\n¦#+TITLE: x\n¦= Title\n¦[source]\n¦$$¦\\begin{x}¦"
    "\\u1234¦{\\rtf1¦\\par ¦Subject: x\n¦From: a@b.c\n¦"
    "MIME-Version: 1.0\n¦Content-Type: text/html\n¦&amp;¦&#0;¦&#x110000;¦"
    "\x00¦\ufeff¦\u200b¦\u202e¦é¦ß¦İ¦\ufb01¦中文¦日本語¦ไทย¦"
    "العربية¦😀¦\ud7ff¦1,000.50¦-7¦3 %¦$5 million¦€ 2,5 Mrd¦"
    "31/12/2024¦January 31, 2024¦2024-02-30¦two (2) years¦thirty days¦"
    "Acme GmbH¦and¦or¦the¦What is ¦How do I ¦compare ¦"
    "difference between ¦list all ¦who¦when¦, ¦; ¦. ¦? ¦! ¦'¦"
    '’¦"¦“¦”¦(¦)¦[¦]¦{¦}¦\\¦/¦%¦a¦Ab¦ABC¦'
    "abc_def¦camelCase¦x.y.z¦http://a.b/c?d=e¦a@b.c¦0¦00¦1e999¦"
    "\u0663¦\u00b2¦½¦\u2177¦=¦<¦>¦&¦@¦~¦^¦0x1F"
)
TOKENS = PATTERNS.split("¦")
# Classes of errors that blame the arguments: data, no data, integrity, unsupported, limits.
BLAMED = ("22", "P0", "02", "23", "0A", "54", "55", "42501")
RAISED = re.compile("at RAISE|portal parameter|during statement block local variable")
WORDS = [
    "late",
    "delivery",
    "a",
    "",
    "'",
    '"',
    "%",
    "_",
    "\\",
    "(",
    "a | b",
    "zzz",
    "é",
    "İ",
    "中文",
]
PLAYED = {"anyelement": "public.article"}  # a type for one that any can take the place of
DATABASE = "lexichord_fuzz"
ARTICLE = """
create table public.article (id integer primary key, body text);
insert into public.article select n, 'late delivery ' || n from generate_series(1, 20) as n;
select lexichord.index_table('public.article', text => '{body}')
"""
SPACE = EmbeddingSpace("fuzz", "random", 4)

type Target = Callable[[Random, Path], str | None]


def main() -> None:
    """Exit with 1 if something broke."""
    arguments = _arguments()
    with _database(arguments.server) if arguments.server else nullcontext():
        sys.exit(_run_all(arguments) > 0)


def _run_all(arguments: argparse.Namespace) -> int:
    """Run the targets; return how many inputs broke something."""
    broken = 0
    for target in [arguments.only] if arguments.only else [*TARGETS, "slopes"]:
        started = time.perf_counter()
        outcomes, failures = (
            _slopes()
            if target == "slopes"
            else _run(target, arguments.first, arguments.count, arguments)
        )
        seconds = time.perf_counter() - started
        counts = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
        print(f"{target}: {counts}; {len(failures)} broken; {seconds:.0f} s", flush=True)
        for failure in failures:
            print(f"  {failure}", flush=True)
        broken += len(failures)
    return broken


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--only", choices=[*TARGETS, "slopes"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--folder", type=Path, default=SAMPLES, help="of real files to damage")
    parser.add_argument("--server", help="a DSN; without one SQL functions are left out")
    parser.add_argument("--url", help="of `lexichord serve`; without one requests are left out")
    parser.add_argument("--mcp", help="of `lexichord mcp --http`; without one calls are left out")
    return parser.parse_args()


@contextmanager
def _database(server: str) -> Iterator[None]:
    """Keep a database of some documents on a server, for as long as the block runs."""
    with psycopg.connect(server, autocommit=True) as connection:
        drop = f"drop database if exists {DATABASE} with (force)".encode()
        connection.execute(drop)
        connection.execute(f"create database {DATABASE}".encode())
        dsn = _of(server, DATABASE)
        schema.prepare(dsn, schema.Choice(space=SPACE))
        with SyncLexichord(dsn=dsn) as lexichord:
            texts = [f"{word} delivery of a thing {number}" for number, word in enumerate(WORDS)]
            lexichord.ingest(
                documents=[
                    {
                        "uri": f"doc/{number}",
                        "chunks": [{"content": text, "vector": [1, 0, 0, number]}],
                    }
                    | {"space": str(SPACE)}
                    for number, text in enumerate(texts)
                ]
            )
        with psycopg.connect(dsn, autocommit=True) as prepared:
            prepared.execute(ARTICLE.encode())
        try:
            yield
        finally:
            connection.execute(drop)


def _of(server: str, database: str) -> str:
    return urlunsplit(urlsplit(server)._replace(path=f"/{database}"))


def _run(
    target: str, first: int, count: int, arguments: argparse.Namespace
) -> tuple[Counter[str], list[str]]:
    """Run seeds in processes that may die; what was under way then is the failure."""
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    needed = {"functions": arguments.server, "requests": arguments.url, "calls": arguments.mcp}
    if not needed.get(target, True):
        return Counter({"left out, for it needs --server, --url or --mcp": 1}), failures
    seed, context = first, multiprocessing.get_context("fork")
    while seed < first + count:
        receiver, sender = context.Pipe(duplex=False)
        last = min(seed + BATCH, first + count)
        job = (sender, target, seed, last, arguments.folder, needed.get(target))
        process = context.Process(target=_work, args=job)
        process.start()
        sender.close()
        seed = _listen(receiver, target, seed, last, outcomes, failures)
        process.kill()
        process.join()
    return outcomes, failures


def _listen(
    receiver: Any,  # noqa: ANN401
    target: str,
    seed: int,
    last: int,
    outcomes: Counter[str],
    failures: list[str],
) -> int:
    """Note what a process says of its seeds; return the seed to go on with."""
    while seed < last:
        try:
            said = receiver.recv() if receiver.poll(10 * SECONDS[target]) else "does not end"
        except EOFError:
            said = "ended the process"
        kind, _, _ = said.partition(": ")
        outcomes[kind] += 1
        if kind not in ("done", "refused"):
            failures.append(f"--only {target} --first {seed} --count 1: {said}")
        seed += 1
        if said in ("does not end", "ended the process"):
            return seed
    return seed


def _work(
    sender: Any,  # noqa: ANN401
    target: str,
    seed: int,
    last: int,
    folder: Path,
    address: str | None,
) -> None:
    clock = time.perf_counter if target in ELSEWHERE else time.process_time
    with TemporaryDirectory() as scratch:
        run = TARGETS[target](Path(scratch), folder, address)
        for each in range(seed, last):
            started = clock()
            try:
                refused = run(Random(f"{target} {each}"))
                said = f"refused: {refused}" if refused else "done"
            except LexichordError as error:
                said = f"refused: {error}"
            except Exception as error:
                said = f"broken: {type(error).__name__}: {error}".replace("\n", " ")[:300]
            seconds = clock() - started
            if seconds > SECONDS[target] and not said.startswith("broken"):
                said = f"slow: {seconds:.1f} s"
            sender.send(said)


@cache
def _seed_files(folder: Path) -> list[Path]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in files if path.stat().st_size <= MAX_SEED_FILE_BYTES]


def _files(scratch: Path, folder: Path, _: str | None) -> Callable[[Random], None]:
    def run(random: Random) -> None:
        file = random.choice(_seed_files(folder))
        damaged = scratch / f"file{file.suffix}"
        damaged.write_bytes(_damage(random, file.read_bytes()))
        read(damaged)

    return run


def _damage(random: Random, content: bytes) -> bytes:
    """Return bytes with a few stretches changed, lost, doubled or moved."""
    damaged = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 3, 8, 30))):
        start = random.randrange(len(damaged) + 1)
        end = min(len(damaged), start + int(random.paretovariate(0.7)))
        match random.randrange(6):
            case 0:
                damaged[start:end] = random.randbytes(end - start)
            case 1:
                del damaged[start:end]
            case 2:
                damaged[start:start] = damaged[start:end]
            case 3:
                damaged[start:start] = _token(random).encode("utf-8", "surrogatepass")
            case 4:
                place = random.randrange(len(damaged) + 1)
                damaged[place:place] = damaged[start:end]
            case _:
                if random.random() < 0.1:
                    del damaged[start:]
    return bytes(damaged)


def _token(random: Random) -> str:
    token = random.choice(TOKENS)
    return token * int(random.paretovariate(1.0)) if random.random() < 0.05 else token


def _text(random: Random, longest: int) -> str:
    words = [
        "|" if token == "" else token for token in random.choices(TOKENS, k=random.randrange(9) + 2)
    ]
    pieces = (
        random.choice(words) if random.random() < 0.5 else _token(random)
        for _ in range(min(int(20 * random.paretovariate(0.6)), longest))
    )
    return random.choice(("", " ")).join(pieces)[: 20 * longest]


def _texts(scratch: Path, _: Path, __: str | None) -> Callable[[Random], None]:
    def run(random: Random) -> None:
        file = scratch / f"text{random.choice(SUFFIXES)}"
        file.write_text(_text(random, 3000), "utf-8", "surrogatepass", newline="")
        read(file)

    return run


def read(file: Path) -> None:
    """Read a file and cut it; raise ValueError unless each chunk is where it says."""
    loaded = load(file)
    last = 0
    for chunk in split(loaded):
        if loaded.text[chunk.start : chunk.end] != chunk.content:
            raise ValueError(f"a chunk of {loaded.media_type} is not at {chunk.start}")
        if chunk.start < last - 1:
            raise ValueError(f"a chunk of {loaded.media_type} lies before the one before it")
        last = chunk.start


def _questions(_: Path, __: Path, ___: str | None) -> Callable[[Random], None]:
    def run(random: Random) -> None:
        understand(_text(random, 200))

    return run


def understand(question: str) -> None:
    """Run all that reads a question, or a sentence, without a database."""
    found = intent.read_intent(question)
    words = linking.split_words(question, found.entities)
    linking.remove_mentions(question, words, [])
    aspects.find_aspects(question)
    aspects.list_aspects(question)
    intent.expand(question)
    intent.find_short_forms(question)
    find_listed(question)
    find_sub_questions(question)
    aspects.cut_words(question, linking.split_words(question, ()), find_cues(question))
    list(values.find_dates(question))
    list(values.signed_values(question))
    for start, end, *_ in (*split_sentences(question), *split_code(question)):
        if not question[start:end].strip():
            raise ValueError("a sentence is empty")


def _functions(_: Path, __: Path, server: str | None) -> Callable[[Random], str | None]:
    assert server
    connection = psycopg.connect(_of(server, DATABASE), autocommit=True)
    connection.execute("set statement_timeout = '10s'")
    connection.execute("set client_min_messages = error")
    functions = connection.execute(FUNCTIONS).fetchall()

    def run(random: Random) -> str | None:
        name, kind, types = random.choice(functions)
        values = [_value(random, each) for each in types]
        places = ", ".join(f"%s::{PLAYED.get(each, each)}" for each in types)
        verb = "call" if kind == "p" else "select * from"
        try:
            with connection.transaction(force_rollback=True):
                connection.execute(f"{verb} lexichord.{name}({places})".encode(), values)
        except psycopg.errors.QueryCanceled:
            raise TimeoutError(f"{name}({values})") from None
        except psycopg.Error as error:
            code = error.sqlstate or "no code"
            blamed = code.startswith(BLAMED) or RAISED.search((error.diag.context or "")[:300])
            if not blamed:
                raise ValueError(f"{name}({values}): {code} {error}") from error
            return code
        return None

    return run


# Without the procedure that commits, and steps of ours whose tables, columns or checked arguments
# are there in the midst of a longer one only.
FUNCTIONS = """
select p.proname, p.prokind::text,
    array(select format_type(t, null) from unnest(p.proargtypes::oid[]) as t)
from pg_proc p where p.pronamespace = 'lexichord'::regnamespace and p.prokind in ('f', 'p')
and p.prorettype <> 'trigger'::regtype and p.proname not in (
    'prepare_query', 'store_fresh_rows', 'free_uris', 'space_overlap', 'chunks_without_other',
    'start_reembed', 'create_table_triggers', 'write_vechord', 'keyword_candidates',
    'keyword_proposals')
order by p.oid::regprocedure::text collate "C"
"""


def _value(random: Random, kind: str) -> object:
    """Return a value of a type, as text, NULL now and then."""
    if random.random() < 0.1:
        return None
    if kind.endswith("[]"):
        return [_value(random, kind[:-2]) for _ in range(random.choice((0, 1, 2, 5, 40)))]
    if kind in ("text", "name") and random.random() < 0.3:
        return _text(random, 100).replace("\0", "")
    return random.choice(VALUES.get(kind, [None]))


INTEGERS = [0, 1, -1, 2, 10, 100, 1000, 2**31 - 1, -(2**31)]
FLOATS = ["0", "1", "-1", "0.5", "0.1", "1e30", "NaN", "Infinity"]
JSON = [
    *("{}", "[]", "null", "1", '"a"', '{"key": "a", "operator": "eq", "value": "b"}'),
    *('{"a": "b"}', '{"and": []}', '{"or": [{"a": 1}]}', '{"a": {"$gt": 5}}', '{"a": null}'),
    *('[{"key": "a", "value": 1e308}]', '{"uri": ["a", "b"]}', '{"\\u0041": {"x": [1, [2]]}}'),
]
VECTORS = ["[1,0,0,0]", "[0,0,0,0]", "[1,2,3]", "[0.1,0.2,0.3,0.4]"]
VALUES: dict[str, Sequence[object]] = {
    "smallint": [0, 1, -1, 9, 32767],
    "integer": INTEGERS,
    "bigint": [*INTEGERS, 2**63 - 1, -(2**63)],
    **dict.fromkeys(("real", "double precision", "numeric"), FLOATS),
    "boolean": [True, False],
    **dict.fromkeys(("json", "jsonb"), JSON),
    **dict.fromkeys(("vector", "halfvec"), VECTORS),
    **dict.fromkeys(("text", "name"), WORDS),
    "anyelement": ["(1,a)"],
    "regclass": ["pg_class", "lexichord_data.document", "public.article"],
}


def _slopes() -> tuple[Counter[str], list[str]]:
    """Time reading and cutting of one repeated pattern in growing sizes."""
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    context = multiprocessing.get_context("fork")
    for suffix, token in product(SLOPE_SUFFIXES, SLOPE_PATTERNS.split("¦")):
        seconds: list[float] = []
        for size in SLOPE_CHARS:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_timed, args=(sender, suffix, token, size))
            process.start()
            seconds.append(receiver.recv() if receiver.poll(SLOPE_SECONDS) else SLOPE_SECONDS)
            process.kill()
            process.join()
        ratio = seconds[-1] / max(seconds[-2], 0.05)
        size_ratio = SLOPE_CHARS[-1] / SLOPE_CHARS[-2]
        bad = ratio > size_ratio**MAX_SLOPE
        outcomes["broken" if bad else "done"] += 1
        if bad:
            shown = ", ".join(f"{each:.2f}" for each in seconds)
            failures.append(f"{suffix} {token!r}: {shown} s for {SLOPE_CHARS} characters")
    return outcomes, failures


def _timed(sender: Any, suffix: str, token: str, size: int) -> None:  # noqa: ANN401
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / f"text{suffix}"
        file.write_text((token * (size // len(token) + 1))[:size])
        started = time.perf_counter()
        with suppress(LexichordError):
            read(file)
        sender.send(time.perf_counter() - started)


TARGETS: dict[str, Callable[[Path, Path, str | None], Callable[[Random], str | None]]] = {
    "files": _files,
    "texts": _texts,
    "questions": _questions,
    "functions": _functions,
    "requests": lambda _, __, url: requests(str(url)),
    "calls": lambda _, __, url: calls(str(url)),
}

if __name__ == "__main__":
    main()
