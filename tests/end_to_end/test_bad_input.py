"""Questions nobody should ask."""

import pytest

from lexichord import SyncLexichord

SIGNS = "".join(map(chr, range(33, 127)))
QUESTIONS = [
    "the of and to",
    "notice " * 15_000,
    "'; drop table lexichord_data.chunk; --",
    'term AND (notice OR "period") NOT w:* & | ! <->',
    SIGNS,
    "契約の期間は何年ですか",
    "🎉 👩‍👩‍👧 ☃",
    "\u202enotice\u200b period\u2066",
    "%s %(name)s {0} $1",
]


@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_any_question_gets_an_answer(question: str, samples: SyncLexichord) -> None:
    for ask in (samples.search, samples.files, samples.query):
        ask(question)
    if "notice" in question:
        assert samples.search(question, mode="keyword").hits
