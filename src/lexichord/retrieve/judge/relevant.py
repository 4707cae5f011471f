"""Which of the files that were found a query is about: one, if it is one."""

from collections.abc import Sequence

from lexichord.types import FileHit

# 47 everyday questions about one document each (samples, articles, NDAs); by share, how often one
# file is said, and how often it is the right one: .4 26, 26; .5 32, 32; .55 35, 34; .6 37, 35;
# .7 39, 37; .8 42, 39. At each the right file is among those that are said in 42.
MIN_RELEVANT_SHARE = 0.5  # of the best file's score


def find_relevant(files: Sequence[FileHit], named: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the ids of the documents that are meant, best first.

    They are those that the query names, else those that score at least half of what the best does;
    none where no file stands out from the others.
    """
    if named:
        return tuple(named)
    scores = {file.document_id: file.scores.get("fused", file.score) or 0.0 for file in files}
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return ()
    return tuple(name for name, score in scores.items() if score >= MIN_RELEVANT_SHARE * best)
