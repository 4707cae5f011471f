"""List-all: every hit above an absolute criterion, each text once a file, grouped by file."""

from collections.abc import Sequence

from lexichord.db.pool import Database
from lexichord.retrieve.aggregate.clauses import rank_files
from lexichord.retrieve.aggregate.quotes import check_quotes, in_document_order
from lexichord.retrieve.aggregate.relevance import Embed, score_sentences, sentences_of
from lexichord.types import ChunkHit
from lexichord.types.evidence import Evidence, Quote

ALIKE = 0.9  # of the word triples of two texts that are the same: then they say the same
SHINGLE = 3  # words
# A chunk is listed for its best sentence, by the criterion of a comparison. Recall / precision
# over the chunks of samples/comparisons.jsonl, each aspect a question, half A, then half B:
FOUND = 0.42  # 100 / 60, 96 / 66; .48 100 / 67, 86 / 69; .51 89 / 66, 71 / 71
COVERED = 0.3  # words alone: 93 / 58, 93 / 58; .4 89 / 71, 61 / 52


async def list_all(
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    vector: Sequence[float] | None = None,
    embed: Embed | None = None,
) -> Evidence:
    """Give all hits that say something of `question`, files by their best hit, each in its order.

    There is no k: whatever `hits` holds is judged. `vector` is the question's; with `embed` every
    sentence of the hits is embedded, some 5 a hit, else words decide. Nearly the same text twice in
    a file is given once; in another file it is another place, and stays.
    """
    good, dropped = await check_quotes(database, [Quote.of(hit) for hit in hits])
    parts = [one for quote in good for one in sentences_of(quote)]
    vectors = None if vector is None else [vector]
    scored = await score_sentences(database, [question], parts, vectors, embed)
    least = COVERED if vector is None or embed is None else FOUND
    wanted = {one.sentence.quote.chunk_id for one in scored if one.found >= least}
    files = rank_files(hit for hit in hits if hit.chunk_id in wanted)
    order = {file.document_id: n for n, file in enumerate(files)}
    kept = distinct([quote for quote in good if quote.chunk_id in wanted])
    by_file = sorted(kept, key=lambda quote: order[quote.document_id])
    return Evidence(files, tuple(in_document_order(by_file)), dropped)


def distinct(quotes: Sequence[Quote]) -> list[Quote]:
    """Leave out what nearly repeats an earlier quote of the same document.

    By the Jaccard coefficient of their shingles (Broder, 1997).
    """
    kept: list[tuple[Quote, set[tuple[str, ...]]]] = []
    for quote in quotes:
        shingles = _shingles(quote.text)
        same = (other for one, other in kept if one.document_id == quote.document_id)
        if not any(_jaccard(shingles, other) >= ALIKE for other in same):
            kept.append((quote, shingles))
    return [quote for quote, _ in kept]


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    count = max(1, len(words) - SHINGLE + 1)
    return {tuple(words[n : n + SHINGLE]) for n in range(count)}


def _jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other)
