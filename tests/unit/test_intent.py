"""What the words of a query say: its kind, its names, its parts, in any wording."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.understand import (
    LANGUAGES,
    MAX_READ_CHARS,
    find_cues,
    find_listed,
    load_cues,
)
from lexichord.retrieve.understand.intent import read_intent
from lexichord.retrieve.understand.linking import (
    QUERY_WORD,
    Mention,
    QueryWord,
    find_mentions,
    keep_certain,
    make_hint,
    remove_mentions,
    remove_naming_clauses,
    says_which,
    split_words,
)
from lexichord.types.questions import Link
from tests.conftest import SAMPLES

# A line a question; which language it is in is found out.
KINDS = {
    "clause_lookup": """
        who pays for the repairs
        I'd like to know when the lease ends
        According to the lease, can I bring a dog?
        The policy says nothing on dogs. Are they allowed?
        How many days' notice must the tenant give?
        where is class Foo parsed
        Wer zahlt die Reparaturen?
        Ist eine Untervermietung erlaubt?
        Qui paie les réparations ?
        Est-ce que la sous-location est permise ?
        ¿Quién paga las reparaciones?
        ¿Se permite el subarriendo?
        谁支付维修费用？
        是否允许转租？
        第三条
    """,
    "comparison": """
        Compare the lease with the licence
        MSA vs. SOW
        Which of the two has the higher cap?
        What do the three NDAs say about survival?
        Are the lease and the Acme agreements under the same law?
        The lease and the licence compared: notice periods
        Worin unterscheiden sich die beiden Verträge?
        Die Haftung im Mietvertrag im Vergleich zum Kaufvertrag
        Quelle est la différence entre le bail et la licence ?
        Le bail par rapport à la licence
        ¿Cuál es la diferencia entre los dos contratos?
        El arrendamiento frente a la licencia
        比较租赁合同和许可协议
        两份政策对日志的规定是否相同？
    """,
    "list_all": """
        list all deadlines
        In the lease, list all repairs
        Which contracts have a non-compete?
        everything about termination
        I need a complete list of the payment dates
        Liste alle Fristen auf
        Welche Verträge enthalten ein Wettbewerbsverbot?
        Liste toutes les échéances
        Il me faut la liste complète des paiements
        Lista todos los plazos
        Necesito una lista completa de los pagos
        列出所有期限
        所有关于终止的条款
    """,
    "summary": """
        summarise the travel policy
        What is this agreement about?
        TL;DR travel policy
        Fasse die Richtlinie zusammen
        Worum geht es in diesem Vertrag?
        Résume la politique de voyage
        De quoi parle ce document ?
        Resume la política de viajes
        ¿De qué trata este documento?
        总结差旅政策
        这份文件讲的是什么？
    """,
    "general": """
        hi
        🎉🎉
        How do I write a lease?
        How does escrow work?
        Warum gibt es diese Klausel?
        Wie kann ich kündigen?
        Pourquoi cette clause existe-t-elle ?
        ¿Cómo puedo rescindir el contrato?
        为什么有这个条款？
        FastAPI 中如何使用中间件？
    """,
}
TRAPS = [
    "Shall the tenant paint the walls?",
    "Overall, is it allowed?",
    "Does a call for tenders bind us?",
    "What is the list price of the pump?",
    "May I summarise the report for the client?",
    "How much more than the deposit can be claimed?",
    'What does "list all losses" mean?',
    "What is meant by \u2018compare all offers’?",
    "Who wrote „Fasse alles zusammen. Compare everything“?",
]


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("general", ""),
        *((kind, q.strip()) for kind in KINDS for q in KINDS[kind].strip().split("\n")),
    ],
)
def test_kind(kind: str, query: str) -> None:
    intent = read_intent(query)
    assert intent.kind == kind
    assert (intent.question, intent.hint, intent.documents) == (query, None, ())
    assert intent.reason.startswith(kind)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_every_kind(language: str) -> None:
    kinds = [kind for kind, _, _ in load_cues(language).kinds]
    assert kinds == ["comparison", "list_all", "summary", "general", "clause_lookup"]


@pytest.mark.parametrize("query", TRAPS)
def test_words_that_sound_like_another_kind(query: str) -> None:
    assert read_intent(query).kind == "clause_lookup"


@pytest.mark.parametrize("half", ["A", "B"])
def test_nine_of_ten_written_questions_are_read_right(half: str) -> None:
    with (SAMPLES / "intents.jsonl").open() as lines:
        tests = [test for line in lines if (test := json.loads(line))["half"] == half]
    right = [read_intent(test["query"]).kind == test["kind"] for test in tests]
    assert len(right) == 40
    assert sum(right) >= 36


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ("In the lease for Saltpan House, who insures it?", ("Saltpan House",)),
        ("the University of Marrowdale and Kerber", ("University of Marrowdale", "Kerber")),
        ("is 'the Buyer' defined in section 5.2", ("the Buyer", "5.2")),
        ("where are parse_all and FooParser.run called", ("parse_all", "FooParser")),
        ("due on 1 April 2025 or May 3, 2026", ()),
        ("LIST ALL DEADLINES", ()),
        ("Non-Disclosure Agreement", ("Non-Disclosure Agreement",)),
        ("Wie lange ist die Kündigungsfrist der Mieter?", ()),
        ("Was regelt der Vertrag mit Sundermoor Brackenlow GmbH?", ("Sundermoor Brackenlow GmbH",)),
        ("Que dit le contrat avec Pellstrand ?", ("Pellstrand",)),
        ("¿Qué dice el contrato con Pellstrand?", ("Pellstrand",)),
    ],
)
def test_entities(query: str, entities: tuple[str, ...]) -> None:
    assert read_intent(query).entities == entities


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("Who pays?", ()),
        ("Who pays, and when is it due?", ("Who pays", "when is it due?")),
        ("Who pays? And when? How much?", ("Who pays?", "when?", "How much?")),
        ('What of "who pays, and when is it due?"', ()),
        ("list the fees and summarise the rest", ("list the fees", "summarise the rest")),
        ("Wer zahlt und wann endet der Vertrag?", ("Wer zahlt", "wann endet der Vertrag?")),
        ("Qui paie et quand finit le bail ?", ("Qui paie", "quand finit le bail ?")),
        ("¿Quién paga y cuándo termina?", ("¿Quién paga", "cuándo termina?")),
        ("谁支付租金，合同何时终止？", ("谁支付租金", "合同何时终止？")),
        ("Wer zahlt Miete und Strom?", ()),
    ],
)
def test_sub_questions(query: str, parts: tuple[str, ...]) -> None:
    assert read_intent(query).sub_questions == parts


PIECES = ["who ", "list ", "and ", "is ", "in ", "compare ", "the ", "Name ", '"', "'", "“", "„"]
PIECES += [*"?.,;:-_() \n\t1aA🎉ßİſ", "1.2", "\0"]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join)))
def test_anything_is_read(query: str) -> None:
    intent = read_intent(query)
    assert intent.question == query
    assert all(part and part in query for part in intent.sub_questions)
    assert len(intent.sub_questions) != 1
    assert all(entity and entity in query for entity in intent.entities)


@given(st.text(max_size=50), st.text(max_size=50))
def test_of_long_text_only_the_ends_are_read(first: str, last: str) -> None:
    """So that time grows with the length, whatever the patterns do."""
    ends = first.ljust(MAX_READ_CHARS, "x"), last.rjust(MAX_READ_CHARS, "x")
    longest = read_intent(ends[0] + " And Compare All Things " * 5000 + ends[1])
    longer = read_intent(ends[0] + " And Compare All Things " + ends[1])
    assert (longest.kind, longest.entities, longest.sub_questions) == (
        longer.kind,
        longer.entities,
        longer.sub_questions,
    )


@pytest.mark.parametrize("query", ["Compare the two: {}", "{} Compare the two."])
def test_an_instruction_may_stand_at_either_end_of_a_long_text(query: str) -> None:
    assert read_intent(query.format("Lorem ipsum. " * 9000)).kind == "comparison"


def linked(query: str, *documents: str) -> tuple[list[QueryWord], list[Link]]:
    """Link a query's words to titles as the database does with plain words."""
    words = split_words(query, read_intent(query).entities)
    titles = [title.lower().split() for title in documents]
    counts = {word: sum(word in title for title in titles) for title in titles for word in title}
    links = [
        Link(
            str(number),
            documents[number],
            "",
            place,
            True,
            False,
            False,
            counts[word] <= 1,
            size,
            9,
        )
        for number, title in enumerate(titles)
        for place, word in enumerate(token.lower for token in words)
        for size in [len(title)]
        if word in title and word not in ("for", "of")
    ]
    return words, links


def names(query: str, *documents: str) -> tuple[list[str], str, str]:
    """Give ids, hint and question."""
    words, links = linked(query, *documents)
    mentions = find_mentions(words, links)
    ids = [mention.document_id for mention in mentions]
    return ids, make_hint(query, words, mentions), remove_mentions(query, words, mentions)


LEASE, TRAVEL, SECURITY = "Lease of Saltpan House", "Travel Policy", "Information Security Policy"
FILED = [LEASE, TRAVEL, SECURITY, "Kerber Agreement", "Seeed Agreement", "Researcher Agreement"]


@pytest.mark.parametrize(
    ("query", "ids", "hint", "question"),
    [
        (
            "In the lease for Saltpan House, who insures the building?",
            [0],
            "lease for Saltpan House",
            "who insures the building?",
        ),
        ("summarise the travel policy", [1], "travel policy", "summarise"),
        ("What does the policy say?", [], "", "What does the policy say?"),
        (
            "How do Kerber's and Seeed's terms differ?",
            [3, 4],
            "Kerber, Seeed",
            "How do terms differ?",
        ),
        ("May the Researcher publish?", [], "", "May the Researcher publish?"),
        (
            "Which is stricter on staff, the Kerber agreement or the Seeed agreement?",
            [3, 4],
            "Kerber agreement, Seeed agreement",
            "Which is stricter on staff?",
        ),
        (
            "Compare fees in Agreement Seeed and Kerber Agreement.",
            [4, 3],
            "Agreement Seeed, Kerber Agreement",
            "Compare fees.",
        ),
        ("Which way does Kalder House face?", [], "", "Which way does Kalder House face?"),
        ("Thanks. Check Kerber's rent.", [3], "Kerber", "Thanks. Check rent."),
        ("Are security policy readers told?", [], "", "Are security policy readers told?"),
        ("Under that security policy, who pays?", [2], "security policy", "who pays?"),
        ("What do both policy texts say?", [1, 2], "policy", "What do texts say?"),
        ("Was he in Saltpan, House of Lords?", [0, 0], "Saltpan, House", "Was he of Lords?"),
    ],
)
def test_what_is_named_becomes_the_hint(
    query: str, ids: list[int], hint: str, question: str
) -> None:
    assert names(query, *FILED) == ([str(number) for number in ids], hint, question)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("which travel policy covers taxis", []),
        ("By what travel policy are taxis paid?", []),
        ("Welche travel policy gilt?", []),
        ("Unter wie viele travel policy fällt das?", []),
        ("does travel policy cover taxis", ["1"]),
        ("What Kerber Agreement ends first?", ["3"]),
    ],
)
def test_what_a_question_asks_for_names_nothing(query: str, ids: list[str]) -> None:
    """As "Which environment variable sets the port?", whatever a page is called."""
    assert names(query, *FILED)[0] == ids


@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("Consider Kerber's agreement; who pays?", "who pays?"),
        ("Consider the lease for Saltpan House; who insures it?", "who insures it?"),
        ("Consider the rules of the travel policy; who pays?", "who pays?"),
        ("Regarding the travel policy: who pays for meals?", "who pays for meals?"),
        ("Look at Kerber's agreement. Who pays?", "Who pays?"),
        ("Seeed Agreement - who pays?", "who pays?"),
        ("Travel Policy\nWho pays for meals?", "Who pays for meals?"),
        ("Betrachte Kerber; wer zahlt die Miete?", "wer zahlt die Miete?"),
        ("Kerber pays late; who insures it?", "Kerber pays late; who insures it?"),
        ("The roof leaked on Kerber. Who pays?", "The roof leaked. Who pays?"),
        ("Did staff read Kerber? Who pays?", "Did staff read Kerber? Who pays?"),
    ],
)
def test_what_introduces_a_document_leaves_the_question(query: str, question: str) -> None:
    """In whatever words it does; what says more of the document stays."""
    words, links = linked(query, *FILED)
    mentions = find_mentions(words, links)
    assert remove_naming_clauses(query, words, mentions) == question


@pytest.mark.parametrize(
    ("query", "certain"),
    [
        ("How long do duties last under Kerber and Seeed?", ["Kerber", "Seeed"]),
        ("Do both policy texts forbid gifts?", ["policy", "policy"]),
        (
            "Does the travel policy say what the security policy does?",
            ["travel policy", "security policy"],
        ),
        ("Does Kerber say who may read the information security?", ["Kerber"]),
        ("Does information security policy end travel policy?", []),
        ("What ends travel policy?", ["travel policy"]),
    ],
)
def test_of_several_titles_those_are_named_that_can_be_nothing_else(
    query: str, certain: list[str]
) -> None:
    words, links = linked(query, *FILED)
    mentions = keep_certain(words, find_mentions(words, links), find_cues(query))
    assert [query[words[one.first].start : words[one.last].end] for one in mentions] == certain


@pytest.mark.parametrize(
    ("query", "named"),
    [("What does the document say?", False), ("Is rent in Document, the lease?", True)],
)
def test_what_any_document_is_called_names_none(query: str, named: bool) -> None:
    words, links = linked(query, "Document")
    mentions = find_mentions(words, links)
    assert [says_which(words, one, find_cues(query)) for one in mentions] == [named]


@pytest.mark.parametrize(
    ("query", "title", "is_named"),
    [
        ("What body in Velland sets the rules?", "Norse and Vellandian War", False),
        ("What do Vellandian rules say?", "Report on Velland", False),
        ("When did Averra warm up?", "Averre", True),
        ("What does Marches cost?", "Southern March", True),
        ("What does Fenner owe?", "FennerHoldings 2020", True),
    ],
)
def test_another_word_of_the_same_stem_is_another_name(
    query: str, title: str, is_named: bool
) -> None:
    words = split_words(query, read_intent(query).entities)
    first = next(number for number, word in enumerate(words) if word.name)
    links = [Link("0", title, "", first, True, True, False, True, 2, 2)]
    assert bool(find_mentions(words, links)) == is_named


def test_a_word_with_a_point_and_an_identifier_stay_in_the_question() -> None:
    _, _, question = names("Under the lease for Saltpan House, who may read .env files?", LEASE)
    assert question == "who may read .env files?"
    parsed = names("where is FooParser parsed", "fooparser")
    assert parsed == (["0"], "FooParser", "where is FooParser parsed")


@given(st.lists(st.sampled_from([*PIECES, "Kerber ", "Saltpan ", "lease ", "Agreement "])))
def test_words_are_only_taken_away(pieces: list[str]) -> None:
    query = "".join(pieces)
    ids, hint, question = names(query, *FILED)
    remaining = iter(QUERY_WORD.findall(query))
    assert all(word in remaining for word in QUERY_WORD.findall(question))  # in their order
    assert question == query or ids
    assert bool(ids) == bool(hint)


@pytest.mark.parametrize(
    ("query", "listed"),
    [
        ("List every clause on late payment interest", "late payment interest"),
        ("Give me a complete list of what is said about gifts", "what is said about gifts"),
        ("In the lease, list every deadline", "deadline"),
        ("Which of the policies mention gifts?", "gifts"),
        ("List", "List"),
        ("Show all of them", "them"),
        ("Liste toutes les clauses sur la résiliation", "la résiliation"),
        ("Who pays the rent?", "Who pays the rent?"),
    ],
)
def test_what_a_list_is_to_hold(query: str, listed: str) -> None:
    assert find_listed(query) == listed


def test_what_follows_a_name_may_be_no_word() -> None:
    mention = Mention("doc_1", "Acme", "", 4, 4, frozenset([4]), frozenset([4]), by_initials=False)
    for query, left in {"my Acme (": "my Acme (", "my Acme account": "my account"}.items():
        asked, expected = f"who may use {query}", f"who may use {left}"
        assert remove_naming_clauses(asked, split_words(asked, ["Acme"]), [mention]) == expected


@pytest.mark.parametrize(
    ("question", "said"),
    [("Can two workers run?", "'Can'"), ("How many are there?", "'How'")],
)
def test_the_reason_of_a_kind_shows_whole_words(question: str, said: str) -> None:
    assert read_intent(question).reason == f"clause_lookup: {said}"
