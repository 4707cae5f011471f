"""link_documents: which words of a query name which documents; find_intent on top of it."""

import psycopg
import pytest

from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.retrieve.understand.intent import find_intent
from lexichord.types import Scope
from tests.sql.corpus import Connection, Row, call, put

BODY = ["Between Ostrelle and Kaldreth.", "The parties agree."]
FILED = [
    ("a/msa.md", "Master Services Agreement"),
    ("a/lease-saltpan-house.md", "Lease of Office Space"),
    ("a/one.md", "Mutual Non-Disclosure Agreement"),
    ("a/two.md", "Non-Disclosure Agreement"),
    ("a/Gr%C3%BCnwald%20Vertrag.txt", "Vertrag"),
    ("p/travel.md", "Travel Policy"),
    ("p/security.md", "Security Policy"),
    ("src/parse_config.py", "parse_config.py"),
    ("w/ui.md", "Own UI Plain Sheets"),
]


def fill(connection: Connection) -> None:
    for uri, title in FILED:
        dataset = "policies" if uri.startswith("p/") else "contracts"
        metadata = {"domain": "property"} if "lease" in uri else None
        body = BODY if title.startswith("Master") else ["Words of no weight."]
        put(connection, uri, body, dataset=dataset, title=title, metadata=metadata)


@pytest.fixture
def filed(connection: Connection) -> Connection:
    fill(connection)
    return connection


def link(connection: Connection, query: str, **scope: object) -> dict[tuple[str, int], Row]:
    rows = call(connection, "link_documents", words=query.split(), **scope)
    return {(row["uri"], row["word"]): row for row in rows}


def test_a_word_is_found_in_title_file_name_and_card(filed: Connection) -> None:
    links = link(filed, "the lease for Saltpan services of Ostrelle")
    lease, house = links["a/lease-saltpan-house.md", 2], links["a/lease-saltpan-house.md", 4]
    assert (lease["in_title"], lease["in_file"], lease["title_terms"]) == (True, True, 3)
    assert (house["in_title"], house["in_file"], house["file_terms"]) == (False, True, 3)
    party = links["a/msa.md", 7]
    assert (party["in_title"], party["in_file"], party["initials"]) == (False, False, False)
    assert links["a/msa.md", 5]["in_title"]
    assert set(links) == {
        ("a/lease-saltpan-house.md", 2),
        ("a/lease-saltpan-house.md", 4),
        ("a/msa.md", 5),
        ("a/msa.md", 7),
    }


def test_words_that_many_cards_hold_are_not_rare(filed: Connection) -> None:
    put(filed, "a/three.md", ["x"], title="Agreement")
    links = link(filed, "Saltpan agreement")
    assert links["a/lease-saltpan-house.md", 1]["rare"]
    assert not links["a/three.md", 2]["rare"]


@pytest.mark.parametrize(
    ("word", "uris"),
    [
        ("NDA", {"a/one.md", "a/two.md"}),
        ("NDAs", {"a/one.md", "a/two.md"}),
        ("MNDA", {"a/one.md"}),
        ("LOOS", {"a/lease-saltpan-house.md"}),
        ("UPS", set()),  # UI gives both its letters or none
        ("nda", set()),
        ("SP", set()),  # two letters begin too much
    ],
)
def test_initials_stand_for_a_title(filed: Connection, word: str, uris: set[str]) -> None:
    links = link(filed, f"what of {word}")
    assert {uri for (uri, _), row in links.items() if row["initials"]} == uris


@pytest.mark.parametrize(
    ("query", "uri", "words"),
    [
        ("terms of Karst Oven", "f/KARSTOVENINC_03_21_2005-EX-10.17-SUPPLY AGREEMENT.txt", {3, 4}),
        ("Dunmill and others", "f/DUNMILLHOLDINGSLTD_2019-LEASE.txt", {1}),
        ("does the Fennwick sell", "f/thefennwick.com.md", {2, 3}),
        ("what of SlowKiln", "f/slowkilnco.txt", {3}),
        ("Dun and others", "f/DUNMILLHOLDINGSLTD_2019-LEASE.txt", set()),  # too short to tell
        ("dunmill and others", "f/DUNMILLHOLDINGSLTD_2019-LEASE.txt", set()),  # no name
        ("Oven of Karst", "f/KARSTOVENINC_03_21_2005-EX-10.17-SUPPLY AGREEMENT.txt", {3}),
        ("the Fennwick to be", "f/thefennwick.com.md", {1, 2}),
    ],
)
def test_a_name_that_a_file_writes_as_one_word(
    connection: Connection, query: str, uri: str, words: set[int]
) -> None:
    body = "Karst Oven, Dunmill, Dun, the Fennwick, Slow Kiln and SlowKiln agree."
    put(connection, uri, [body], title="Agreement")
    links = link(connection, query)
    assert {word for (_, word), row in links.items() if row["in_file"]} == words


def test_percent_signs_of_a_file_name_part_its_words(filed: Connection) -> None:
    assert link(filed, "vertrag")["a/Gr%C3%BCnwald%20Vertrag.txt", 1]["in_file"]


def test_an_identifier_is_found_by_its_parts(filed: Connection) -> None:
    assert link(filed, "parse_config")["src/parse_config.py", 1]["in_file"]
    assert link(filed, "parseConfig")["src/parse_config.py", 1]["in_title"]


def test_a_name_is_not_found_by_its_number_alone(connection: Connection) -> None:
    for name in ("KPL-2.0", "Zander-2.0", "GRL-3", "GRL-2"):
        put(connection, f"l/{name}.txt", ["Words of no weight."], title=name.replace("-", " "))
    links = link(connection, "compare KPL-2.0 and GRL-3")
    assert {key for key, row in links.items() if row["in_title"] or row["in_file"]} == {
        ("l/KPL-2.0.txt", 2),
        ("l/GRL-3.txt", 4),
    }


def test_the_domain_is_the_metadatas_else_the_dataset(filed: Connection) -> None:
    links = link(filed, "lease travel")
    assert links["a/lease-saltpan-house.md", 1]["domain"] == "property"
    assert links["p/travel.md", 2]["domain"] == "policies"


def test_scope_and_depth_bound_it(filed: Connection) -> None:
    assert {uri for uri, _ in link(filed, "policy NDA", datasets=["policies"])} == {
        "p/travel.md",
        "p/security.md",
    }
    assert {uri for uri, _ in link(filed, "policy", uri_prefix="p/t")} == {"p/travel.md"}
    assert len(link(filed, "policy", depth=1)) == 1
    with pytest.raises(psycopg.errors.NoDataFound, match="there is no dataset 'x'"):
        link(filed, "policy", datasets=["x"])


def test_nothing_links_to_nothing(filed: Connection) -> None:
    assert link(filed, "") == {}
    assert link(filed, "🎉 ? the of") == {}
    assert link(filed, "unheard") == {}


@pytest.mark.parametrize("arguments", [{"depth": 0}, {"depth": None}, {"words": ["a"] * 1001}])
def test_what_makes_no_sense_is_an_error(filed: Connection, arguments: dict[str, object]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="depth must be"):
        call(filed, "link_documents", **{"words": ["a"], **arguments})


@pytest.fixture
async def stored(database: Database, fresh: Connection) -> Database:
    fill(fresh)
    return database


@pytest.mark.parametrize(
    ("query", "numbers", "hint", "question"),
    [
        (
            "In the lease for Saltpan House, who insures the building?",
            (2,),
            "lease for Saltpan House",
            "who insures the building?",
        ),
        (
            "compare the notice periods of the MSA and the travel policy",
            (1, 6),
            "MSA, Master Services Agreement, travel policy",
            "compare the notice periods",
        ),
        ("summarise the travel policy", (6,), "travel policy", "summarise the travel policy"),
        ("What do both NDAs say on survival?", (3, 4), None, "What do say on survival?"),
        ("What does the policy say?", (), None, "What does the policy say?"),
        ("Is a travel policy needed?", (), None, "Is a travel policy needed?"),
        ("where is parse_config called", (8,), "parse_config", "where is parse_config called"),
        ("", (), None, ""),
        ("🎉", (), None, "🎉"),
    ],
)
async def test_what_names_a_document_becomes_the_hint(
    stored: Database, query: str, numbers: tuple[int, ...], hint: str | None, question: str
) -> None:
    intent = await find_intent(stored, query)
    documents = tuple(stored.ids.write("doc", number) for number in numbers)
    assert (intent.documents, intent.question) == (documents, question)
    if hint or not numbers:
        assert intent.hint == hint


async def test_the_callers_hint_wins(stored: Database) -> None:
    intent = await find_intent(stored, "Who pays under the travel policy?", "the Saltpan lease")
    assert (intent.hint, intent.documents) == (
        "the Saltpan lease",
        (stored.ids.write("doc", 2),),
    )
    assert intent.question == "Who pays under the travel policy?"
    assert intent.domain == "property"


async def test_scope_holds_and_its_errors_are_told(stored: Database) -> None:
    scope = Scope(datasets=("policies",))
    assert (await find_intent(stored, "Who signs the MSA?", scope=scope)).documents == ()
    with pytest.raises(ConfigError, match="there is no dataset"):
        await find_intent(stored, "Who signs?", scope=Scope(datasets=("nowhere",)))


async def test_a_long_text_names_nothing_and_says_so(stored: Database) -> None:
    intent = await find_intent(stored, "the travel policy " * 6000)
    assert (intent.hint, intent.documents) == (None, ())
    assert "too long" in intent.reason


@pytest.mark.parametrize(
    ("query", "question"),
    [
        (
            "What is the notice period under the lease of office space?",
            "What is the notice period?",
        ),
        ("According to the Travel Policy, who books flights?", "who books flights?"),
        ("Why does the Travel Policy speak of closed accounts?", None),
        ("Does the Travel Policy cover taxis?", None),
        ("How is the lease of office space ended?", None),
    ],
)
async def test_a_naming_clause_goes_whole_or_stays_whole(
    stored: Database, query: str, question: str | None
) -> None:
    intent = await find_intent(stored, query)
    assert intent.documents
    assert intent.question == (question or query)


@pytest.mark.parametrize(
    ("query", "title", "hint"),
    [
        # Another title that holds the same words goes on, others share one of them.
        ("how do I configure Valve Settings", "Valve Settings", "Valve Settings"),
        ("how do I use a Pump Request?", None, None),
        ("how do I use the Pump Request", "Pump Request", "Pump Request"),
        ("what do Valve Settings Models hold", "Valve Settings Models", "Valve Settings Models"),
        ("how do I use valve settings", "Valve Settings", "valve settings"),
        ("can the same valve settings be kept", None, None),
        ("which settings has a valve", None, None),
        # The words of a title, but not as it has them: what is asked about.
        ("how do I see hose's uses", None, None),
    ],
)
async def test_a_whole_title_names_its_document_among_longer_ones(
    database: Database, fresh: Connection, query: str, title: str | None, hint: str | None
) -> None:
    titles = ["Valve Settings", "Valve Settings Models", "Pump Request", "Custom Pump Use"]
    others = [
        f"{verb} {thing}s" for verb in ("Use", "Configure") for thing in ("Tap", "Hose", "Tub")
    ]
    for number, each in enumerate([*titles, *others]):
        put(fresh, f"w/{number}.md", ["Words of no weight."], title=each)
    intent = await find_intent(database, query)
    assert intent.hint == hint
    assert [f"names '{title}'"] == intent.reason.split("; ")[1:] or title is None


@pytest.mark.parametrize(
    "query",
    [
        "What is the difference between the travel policy and the security policy?",
        "How do the travel policy and the security policy differ?",
        "travel policy vs security policy",
    ],
)
async def test_a_comparison_that_names_no_aspect_stays_whole(stored: Database, query: str) -> None:
    intent = await find_intent(stored, query)
    assert intent.kind == "comparison"
    assert intent.documents == tuple(stored.ids.write("doc", number) for number in (6, 7))
    assert intent.question == query


async def test_a_title_of_one_word_that_others_speak_of_is_a_topic(
    database: Database, fresh: Connection
) -> None:
    bodies = {"Depot": "The depot keeps parcels.", "Ledger": "The ledger lists payments."}
    others = [f"How a parcel leaves the depot by lorry {number}." for number in range(5)]
    for title, body in [*bodies.items(), *((f"Lorry {n}", text) for n, text in enumerate(others))]:
        put(fresh, f"t/{title}.md", [body], title=title)
    topic = await find_intent(database, "how do I send a parcel to the depot?")
    assert (topic.documents, topic.hint) == ((), None)
    assert "'Ledger'" in (await find_intent(database, "what does the ledger list?")).reason


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("Which law governs the Karst Oven agreement?", ["KARSTOVENINC"]),
        ("Who pays under the Dunmill lease?", ["DUNMILLHOLDINGSLTD"]),
        ("Does the Fennwick policy speak of cookies?", ["thefennwick"]),
        ("compare the law of the Karst Oven, Dunmill and Fennwick agreements", None),
        ("Does every Oven need a licence?", []),
    ],
)
async def test_a_name_that_a_file_writes_as_one_word_names_its_document(
    database: Database, fresh: Connection, query: str, titles: list[str] | None
) -> None:
    names = [
        ("KARSTOVENINC_03_21_2005-EX-10.17-SUPPLY AGREEMENT.txt", "Karst Oven supplies ovens."),
        ("DUNMILLHOLDINGSLTD_2019-LEASE AGREEMENT.txt", "Dunmill leases rooms."),
        ("thefennwick.com.md", "The Fennwick is an agreement on cookies."),
        ("OTHERCO_2011-SUPPLY AGREEMENT.txt", "Other supplies what Karst Oven does not."),
    ]
    for name, body in names:
        put(fresh, f"f/{name}", [body], title=name.rpartition(".")[0])
    intent = await find_intent(database, query)
    named = [name for name, _ in names if f"'{name.rpartition('.')[0]}'" in intent.reason]
    wanted = [name for name, _ in names[:3] if titles is None or name.startswith(tuple(titles))]
    assert named == wanted


@pytest.mark.parametrize(
    ("query", "languages"),
    [
        ("Vergleiche Orsk und Halden: Einwohner und Klima", ["de", "de"]),
        ("compare Orsk and Halden: inhabitants and climate", ["en", "en"]),
        ("compara Orsk y Halden: habitantes y clima", ["es", "en"]),  # one is not there in Spanish
    ],
)
async def test_of_one_title_in_several_languages_the_questions_is_compared(
    database: Database, fresh: Connection, query: str, languages: list[str]
) -> None:
    places = [(title, language) for title in ("Orsk", "Halden") for language in ("en", "de", "es")]
    for title, language in places:
        if (title, language) != ("Halden", "es"):
            body = f"{title} is a city, habitantes, inhabitants."
            uri, metadata = f"{language}/{title}.md", {"language": language}
            put(fresh, uri, [body], title=title, metadata=metadata)
    intent = await find_intent(database, query)
    uris = {
        row["uri"]: row["document_id"]
        for row in call(fresh, "link_documents", words=["Orsk", "Halden"])
    }
    wanted = [f"{languages[0]}/Orsk.md", f"{languages[1]}/Halden.md"]
    assert intent.documents == tuple(database.ids.write("doc", uris[uri]) for uri in wanted)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("how do I end my ZEB account", None),  # three are called so
        ("how do I end my QUO account", "QUO Partners"),
    ],
)
async def test_a_name_in_capitals_that_several_titles_share_is_no_documents(
    database: Database, fresh: Connection, query: str, named: str | None
) -> None:
    shared = ["ZEB Partners", "Ownership of a ZEB domain", "What ZEB costs a partner"]
    for number, title in enumerate([*shared, "QUO Partners", "Ending an account"]):
        put(fresh, f"z/{number}.md", ["Words of no weight on ZEB."], title=title)
    intent = await find_intent(database, query)
    assert [f"names '{named}'"] == intent.reason.split("; ")[1:] or named is None
    assert bool(intent.documents) == bool(named)


LISTED = [
    ("c/1.txt", "1", "public class CedarHash builds hashes of cedar."),
    ("c/2.txt", "2", "Licence text. " * 200 + "class BirchHash builds hashes."),
    ("c/3.txt", "Night shifts at sea", "How sleep changes on night shifts."),
    ("c/4.txt", "Sleep and cc of old sailors", "Sailors who are in cc sleep more."),
    ("c/5.txt", "Quarterly harvest", "Harvest of barley in tonnes, by quarter."),
    ("c/6.txt", "6", "Dear Ms Orlow, the harbour meeting starts at nine."),
]


def fill_listed(connection: Connection) -> None:
    for uri, title, text in LISTED:
        chunks = [text[start : start + 900] for start in range(0, len(text), 900)]
        put(connection, uri, chunks, title=title)


@pytest.mark.parametrize(
    ("query", "numbers", "question"),
    [
        (
            "compare CedarHash, BirchHash and the quarterly harvest on output",
            [1, 2, 5],
            "compare on output",
        ),
        (
            "CedarHash and BirchHash: author and since which version",
            [1, 2],
            "author and since which version",
        ),
        ("night shifts at sea vs barley harvest in tonnes: sample size", [3, 5], "sample size"),
        ("Sleep and cc of old sailors vs quarterly harvest: year", [4, 5], "year"),
        (
            "what start time do CedarHash, the harbour meeting mail and the harvest give?",
            [1, 6, 5],
            "what start time do give?",
        ),
        ("compare the quarterly harvest, CedarHash, rent", [5, 1], "compare, rent"),
        ("which has the more barley, CedarHash or the quarterly harvest?", [1, 5], None),
        ("compare vacation and sick time", [], None),
    ],
)
async def test_each_document_in_a_comparisons_list_is_a_row(
    database: Database, fresh: Connection, query: str, numbers: list[int], question: str | None
) -> None:
    fill_listed(fresh)
    intent = await find_intent(database, query)
    assert intent.kind == "comparison"
    expected = tuple(database.ids.write("doc", number) for number in numbers)
    assert intent.documents == expected
    assert question is None or intent.question == question


ASKED_OF_OTHERS = [
    ("s/orlow.example.md", "orlow.example: privacy policy", "We protect data. Users opt in."),
    ("s/steps.md", "First Steps", "Take these steps to begin with data."),
    ("s/registry.txt", "Disclosures to the Registry", "Users protect the data that they take."),
    ("s/guide.md", "Tutorial - User Guide", "What users need to share."),
    ("s/pipes.md", "Waterways", "Water and gas run in pipes here, power in lines."),
    ("s/startups.md", "Intellectual Property Protection for startups", "Property of the mind."),
    ("s/page.md", "The File Cabinet", "Words of no weight."),
]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("orlow.example privacy policy: What steps do you take to protect the user's data?", [1]),
        ("orlow.example privacy policy: Does the user need to opt in, and why?", [1]),
        ("who pays for water, gas and power", []),
        ("who pays for the water, the gas and the power", []),
        ("is the pepper read from the properties file, and when?", []),
        ("what does the protection page say of startups", []),
        ("what is in the file cabinet", [7]),
    ],
)
async def test_a_question_lists_no_documents_by_its_words(
    database: Database, fresh: Connection, query: str, numbers: list[int]
) -> None:
    for uri, title, text in ASKED_OF_OTHERS:
        put(fresh, uri, [text], title=title)
    intent = await find_intent(database, query)
    expected = tuple(database.ids.write("doc", number) for number in numbers)
    assert intent.documents == expected, intent.reason
    assert intent.kind != "comparison"


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("Karstoven: who pays", [1]),
        ("Compare Karstoven and Fennwick: law", [1]),  # no file begins with Fennwick
        ("Does the Birlotic policy speak of cookies?", [2]),
        ("KarstOven vs the Birlotic: arbitration", [1, 2]),
        ("Karst Oven and the Birlotic: arbitration", [1, 2]),
    ],
)
async def test_a_name_is_found_by_the_beginning_of_a_file_name_alone(
    database: Database, fresh: Connection, query: str, numbers: list[int]
) -> None:
    """What the text does not hold is in no card as a word of its own; "birlotic" has an ending."""
    put(fresh, "f/KARSTOVENINC_2005.txt", ["Words of no weight."], title="1")
    put(fresh, "f/thebirlotic.com.md", ["Words without weight."], title="2")
    intent = await find_intent(database, query)
    assert intent.documents == tuple(database.ids.write("doc", number) for number in numbers)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("who signs the DPA", "Data Processing Addendum"),
        ("who signs the BOL", "Bill of Lading"),
        ("who signs the PAO", None),
    ],
)
async def test_a_small_word_is_not_the_last_of_initials(
    database: Database, fresh: Connection, query: str, title: str | None
) -> None:
    titles = ["Data Privacy and Cookies", "Data Processing Addendum", "Bill of Lading"]
    for number, each in enumerate([*titles, "Papers and of"]):
        put(fresh, f"f/{number}.md", ["Words of no weight."], title=each)
    reason = (await find_intent(database, query)).reason
    assert reason.endswith(f"names '{title}'" if title else "names no document")


async def test_what_many_are_called_names_none_that_writes_it_as_one_word(
    database: Database, fresh: Connection
) -> None:
    titles = ["Kerst Non Disclosure Agreement", "Model NonDisclosure Agreement", "AgreementsGuide"]
    for number in range(4):
        titles.append(f"Paper {number} Non-Disclosure Agreement")
    for number, title in enumerate(titles):
        put(fresh, f"f/{number}.md", ["Words of no weight."], title=title)
    intent = await find_intent(database, "Consider Kerst's Non-Disclosure Agreement; who pays?")
    assert intent.documents == (database.ids.write("doc", 1),)


async def test_a_list_of_one_sort_of_document_is_no_long_title(
    database: Database, fresh: Connection
) -> None:
    for number, title in enumerate(["Mutual NDA", "One way NDA clinical study", "NDA survival"]):
        put(fresh, f"f/{number}.md", ["Words of no weight."], title=title)
    query = "Compare the mutual NDA with the clinical study NDA: survival, law"
    intent = await find_intent(database, query)
    assert intent.documents == tuple(database.ids.write("doc", number) for number in (1, 2))
