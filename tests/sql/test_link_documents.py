"""link_documents: which words of a query name which documents; find_intent on top of it."""

from collections.abc import Iterable

import psycopg
import pytest

from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.retrieve.understand.intent import find_intent
from lexichord.types import Scope
from lexichord.types.questions import Intent
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
LEASE = "a/lease-saltpan-house.md"


def fill(connection: Connection) -> None:
    for uri, title in FILED:
        dataset = "policies" if uri.startswith("p/") else "contracts"
        metadata = {"domain": "property"} if uri == LEASE else None
        body = BODY if title.startswith("Master") else ["Words of no weight."]
        put(connection, uri, body, dataset=dataset, title=title, metadata=metadata)


def title(connection: Connection, titles: Iterable[str], body: str = "Words of no weight.") -> None:
    """Store a document under each title."""
    for number, each in enumerate(titles):
        put(connection, f"w/{number}.md", [body], title=each)


@pytest.fixture
def filed(connection: Connection) -> Connection:
    fill(connection)
    return connection


def link(connection: Connection, query: str, **scope: object) -> dict[tuple[str, int], Row]:
    rows = call(connection, "link_documents", words=query.split(), **scope)
    return {(row["uri"], row["word"]): row for row in rows}


def named(connection: Connection, query: str, *where: str) -> set[tuple[str, int]]:
    links = link(connection, query)
    return {key for key, row in links.items() if any(row[name] for name in where)}


def test_a_word_is_found_in_title_file_name_and_card(filed: Connection) -> None:
    links = link(filed, "the lease for Saltpan services of Ostrelle")
    lease, house = links[LEASE, 2], links[LEASE, 4]
    assert (lease["in_title"], lease["in_file"], lease["title_terms"]) == (True, True, 3)
    assert (house["in_title"], house["in_file"], house["file_terms"]) == (False, True, 3)
    party = links["a/msa.md", 7]
    assert (party["in_title"], party["in_file"], party["initials"]) == (False, False, False)
    assert links["a/msa.md", 5]["in_title"]
    assert set(links) == {(LEASE, 2), (LEASE, 4), ("a/msa.md", 5), ("a/msa.md", 7)}


def test_words_that_many_cards_hold_are_not_rare(filed: Connection) -> None:
    put(filed, "a/three.md", ["x"], title="Agreement")
    links = link(filed, "Saltpan agreement")
    assert links[LEASE, 1]["rare"]
    assert not links["a/three.md", 2]["rare"]


def test_initials_stand_for_a_title(filed: Connection) -> None:
    for word, uris in {
        "NDA": {"a/one.md", "a/two.md"},
        "NDAs": {"a/one.md", "a/two.md"},
        "MNDA": {"a/one.md"},
        "LOOS": {LEASE},
        "UPS": set(),  # UI gives both its letters or none
        "nda": set(),
        "SP": set(),  # two letters begin too much
    }.items():
        assert {uri for uri, _ in named(filed, f"what of {word}", "initials")} == uris, word


KARST = "f/KARSTOVENINC_03_21_2005-EX-10.17-SUPPLY AGREEMENT.txt"
DUNMILL = "f/DUNMILLHOLDINGSLTD_2019-LEASE.txt"


@pytest.mark.parametrize(
    ("query", "uri", "words"),
    [
        ("terms of Karst Oven", KARST, {3, 4}),
        ("Dunmill and others", DUNMILL, {1}),
        ("does the Fennwick sell", "f/thefennwick.com.md", {2, 3}),
        ("what of SlowKiln", "f/slowkilnco.txt", {3}),
        ("Dun and others", DUNMILL, set()),  # too short to tell
        ("dunmill and others", DUNMILL, set()),  # no name
        ("Oven of Karst", KARST, {3}),
        ("the Fennwick to be", "f/thefennwick.com.md", {1, 2}),
    ],
)
def test_a_name_that_a_file_writes_as_one_word(
    connection: Connection, query: str, uri: str, words: set[int]
) -> None:
    body = "Karst Oven, Dunmill, Dun, the Fennwick, Slow Kiln and SlowKiln agree."
    put(connection, uri, [body], title="Agreement")
    assert {word for _, word in named(connection, query, "in_file")} == words


def test_file_names_and_identifiers_are_found_by_their_parts(filed: Connection) -> None:
    assert link(filed, "vertrag")["a/Gr%C3%BCnwald%20Vertrag.txt", 1]["in_file"]
    assert link(filed, "parse_config")["src/parse_config.py", 1]["in_file"]
    assert link(filed, "parseConfig")["src/parse_config.py", 1]["in_title"]


def test_a_name_is_not_found_by_its_number_alone(connection: Connection) -> None:
    for name in ("KPL-2.0", "Zander-2.0", "GRL-3", "GRL-2"):
        put(connection, f"l/{name}.txt", ["Words of no weight."], title=name.replace("-", " "))
    found = named(connection, "compare KPL-2.0 and GRL-3", "in_title", "in_file")
    assert found == {("l/KPL-2.0.txt", 2), ("l/GRL-3.txt", 4)}


def test_scope_and_depth_bound_it(filed: Connection) -> None:
    links = link(filed, "lease travel")
    assert links[LEASE, 1]["domain"] == "property"  # the metadata's, else the dataset
    assert links["p/travel.md", 2]["domain"] == "policies"
    policies = {uri for uri, _ in link(filed, "policy NDA", datasets=["policies"])}
    assert policies == {"p/travel.md", "p/security.md"}
    assert {uri for uri, _ in link(filed, "policy", uri_prefix="p/t")} == {"p/travel.md"}
    assert len(link(filed, "policy", depth=1)) == 1
    for nothing in ("", "🎉 ? the of", "unheard"):
        assert link(filed, nothing) == {}
    with pytest.raises(psycopg.errors.NoDataFound, match="there is no dataset 'x'"):
        link(filed, "policy", datasets=["x"])


@pytest.mark.parametrize("arguments", [{"depth": 0}, {"depth": None}, {"words": ["a"] * 1001}])
def test_what_makes_no_sense_is_an_error(filed: Connection, arguments: dict[str, object]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="depth must be"):
        call(filed, "link_documents", **{"words": ["a"], **arguments})


@pytest.fixture
async def stored(database: Database, fresh: Connection) -> Database:
    fill(fresh)
    return database


def numbers(database: Database, intent: Intent) -> list[int]:
    return [database.ids.read("doc", each) for each in intent.documents]


async def test_what_names_a_document_becomes_the_hint(stored: Database) -> None:
    compared = "What is the difference between the travel policy and the security policy?"
    msa = "MSA, Master Services Agreement, travel policy"
    for query, documents, hint, question in [
        (
            *("In the lease for Saltpan House, who insures the building?", [2]),
            *("lease for Saltpan House", "who insures the building?"),
        ),
        (
            *("compare the notice periods of the MSA and the travel policy", [1, 6]),
            *(msa, None),
        ),
        ("summarise the travel policy", [6], "travel policy", None),
        ("What do both NDAs say on survival?", [3, 4], None, None),
        ("What does the policy say?", [], None, None),
        ("Is a travel policy needed?", [], None, None),
        ("where is parse_config called", [8], "parse_config", None),
        ("", [], None, None),
        ("🎉", [], None, None),
        # A clause that names goes whole or stays whole.
        (
            *("What is the notice period under the lease of office space?", [2]),
            *(None, "What is the notice period?"),
        ),
        ("According to the Travel Policy, who books flights?", [6], None, "who books flights?"),
        ("Why does the Travel Policy speak of closed accounts?", [6], None, None),
        ("Does the Travel Policy cover taxis?", [6], None, None),
        ("How is the lease of office space ended?", [2], None, None),
        # A comparison stays as it is asked.
        (compared, [6, 7], None, None),
        ("How do the travel policy and the security policy differ?", [6, 7], None, None),
        ("travel policy vs security policy", [6, 7], None, None),
    ]:
        intent = await find_intent(stored, query)
        assert (numbers(stored, intent), intent.question) == (documents, question or query), query
        assert intent.hint == hint or (hint is None and documents), query
        assert intent.kind == "comparison" or documents != [6, 7], query


async def test_the_callers_hint_and_scope_hold(stored: Database) -> None:
    intent = await find_intent(stored, "Who pays under the travel policy?", "the Saltpan lease")
    assert (intent.hint, numbers(stored, intent)) == ("the Saltpan lease", [2])
    assert intent.question == "Who pays under the travel policy?"
    assert intent.domain == "property"
    scope = Scope(datasets=("policies",))
    assert (await find_intent(stored, "Who signs the MSA?", scope=scope)).documents == ()
    with pytest.raises(ConfigError, match="there is no dataset"):
        await find_intent(stored, "Who signs?", scope=Scope(datasets=("nowhere",)))
    long = await find_intent(stored, "the travel policy " * 6000)
    assert (long.hint, long.documents) == (None, ())
    assert "too long" in long.reason


async def test_a_whole_title_names_its_document_among_longer_ones(
    database: Database, fresh: Connection
) -> None:
    verbs, things = ("Use", "Configure"), ("Tap", "Hose", "Tub")
    titles = ["Valve Settings", "Valve Settings Models", "Pump Request", "Custom Pump Use"]
    title(fresh, [*titles, *(f"{verb} {thing}s" for verb in verbs for thing in things)])
    for query, name, hint in [
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
    ]:
        intent = await find_intent(database, query)
        assert intent.hint == hint, query
        assert name is None or intent.reason.split("; ")[1:] == [f"names '{name}'"], query


async def test_a_title_of_one_word_that_others_speak_of_is_a_topic(
    database: Database, fresh: Connection
) -> None:
    bodies = {"Depot": "The depot keeps parcels.", "Ledger": "The ledger lists payments."}
    others = [f"How a parcel leaves the depot by lorry {number}." for number in range(5)]
    for name, body in [*bodies.items(), *((f"Lorry {n}", text) for n, text in enumerate(others))]:
        put(fresh, f"t/{name}.md", [body], title=name)
    topic = await find_intent(database, "how do I send a parcel to the depot?")
    assert (topic.documents, topic.hint) == ((), None)
    assert "'Ledger'" in (await find_intent(database, "what does the ledger list?")).reason


async def test_a_name_that_a_file_writes_as_one_word_names_its_document(
    database: Database, fresh: Connection
) -> None:
    names = {
        "KARSTOVENINC_03_21_2005-EX-10.17-SUPPLY AGREEMENT.txt": "Karst Oven supplies ovens.",
        "DUNMILLHOLDINGSLTD_2019-LEASE AGREEMENT.txt": "Dunmill leases rooms.",
        "thefennwick.com.md": "The Fennwick is an agreement on cookies.",
        "OTHERCO_2011-SUPPLY AGREEMENT.txt": "Other supplies what Karst Oven does not.",
    }
    for name, body in names.items():
        put(fresh, f"f/{name}", [body], title=name.rpartition(".")[0])
    for query, documents in [
        ("Which law governs the Karst Oven agreement?", [1]),
        ("Who pays under the Dunmill lease?", [2]),
        ("Does the Fennwick policy speak of cookies?", [3]),
        ("compare the law of the Karst Oven, Dunmill and Fennwick agreements", [1, 2, 3]),
        ("Does every Oven need a licence?", []),
    ]:
        reason = (await find_intent(database, query)).reason
        named = [n for n, name in enumerate(names, 1) if f"'{name.rpartition('.')[0]}'" in reason]
        assert named == documents, query


async def test_of_one_title_in_several_languages_the_questions_is_compared(
    database: Database, fresh: Connection
) -> None:
    places = [(name, language) for name in ("Orsk", "Halden") for language in ("en", "de", "es")]
    for name, language in places[:-1]:  # one is not there in Spanish
        body = f"{name} is a city, habitantes, inhabitants."
        uri, metadata = f"{language}/{name}.md", {"language": language}
        put(fresh, uri, [body], title=name, metadata=metadata)
    for query, documents in [
        ("Vergleiche Orsk und Halden: Einwohner und Klima", [2, 5]),
        ("compare Orsk and Halden: inhabitants and climate", [1, 4]),
        ("compara Orsk y Halden: habitantes y clima", [3, 4]),
    ]:
        assert numbers(database, await find_intent(database, query)) == documents, query


async def test_a_name_in_capitals_that_several_titles_share_is_no_documents(
    database: Database, fresh: Connection
) -> None:
    shared = ["ZEB Partners", "Ownership of a ZEB domain", "What ZEB costs a partner"]
    title(fresh, [*shared, "QUO Partners", "Ending an account"], "Words of no weight on ZEB.")
    assert not (await find_intent(database, "how do I end my ZEB account")).documents
    intent = await find_intent(database, "how do I end my QUO account")
    assert intent.documents
    assert intent.reason.split("; ")[1:] == ["names 'QUO Partners'"]


LISTED = [
    ("1", "public class CedarHash builds hashes of cedar."),
    ("2", "Licence text. " * 200 + "class BirchHash builds hashes."),
    ("Night shifts at sea", "How sleep changes on night shifts."),
    ("Sleep and cc of old sailors", "Sailors who are in cc sleep more."),
    ("Quarterly harvest", "Harvest of barley in tonnes, by quarter."),
    ("6", "Dear Ms Orlow, the harbour meeting starts at nine."),
]


async def test_each_document_in_a_comparisons_list_is_a_row(
    database: Database, fresh: Connection
) -> None:
    for number, (name, text) in enumerate(LISTED, 1):
        chunks = [text[start : start + 900] for start in range(0, len(text), 900)]
        put(fresh, f"c/{number}.txt", chunks, title=name)
    output = "compare CedarHash, BirchHash and the quarterly harvest on output"
    start = "compare CedarHash, the harbour meeting mail and the harvest: start time"
    version = "author and since which version"
    for query, documents, aspects in [
        (output, [1, 2, 5], ("output",)),
        (f"CedarHash and BirchHash: {version}", [1, 2], ("author", "since which version")),
        ("night shifts at sea vs barley harvest in tonnes: sample size", [3, 5], ("sample size",)),
        ("Sleep and cc of old sailors vs quarterly harvest: year", [4, 5], ("year",)),
        (start, [1, 6, 5], ("start time",)),
        ("compare the quarterly harvest, CedarHash, rent", [5, 1], ("rent",)),
        ("which has the more barley, CedarHash or the quarterly harvest?", [1, 5], None),
        ("compare vacation and sick time", [], None),
    ]:
        intent = await find_intent(database, query)
        assert (intent.kind, numbers(database, intent)) == ("comparison", documents), query
        assert intent.question == query
        assert aspects is None or intent.aspects == aspects


async def test_titles_in_one_sentence_are_no_comparison(
    database: Database, fresh: Connection
) -> None:
    """They may be what is asked; only what can be nothing else names documents."""
    title(fresh, ["Start a pump", "Use the control panel", "Rinse filters", "Lease", "Document"])
    for query, documents in [
        ("How do I start a pump from the control panel?", []),
        ("Can I start a pump and rinse filters?", []),
        ("What does the document say about rust?", []),
        ("Who pays under the lease when I rinse filters?", [4]),
        ("what do CedarHash, the lease and the harvest give?", [4]),
    ]:
        intent = await find_intent(database, query)
        assert (numbers(database, intent), intent.question) == (documents, query), query
        assert intent.kind != "comparison", query


async def test_what_no_title_names_is_found_for_each_side(
    database: Database, fresh: Connection
) -> None:
    texts = ["A valve opens by itself.", "A check valve opens one way.", "A gasket is of rubber."]
    for number, text in enumerate(texts, 1):
        put(fresh, f"v/{number}.md", [f"Words of no weight. {text}"], title=f"Chapter {number}")
    things = {1: "valve", 2: "check valve", 3: "gasket"}
    for query, documents, aspects in [
        ("What is the difference between a valve and a check valve?", [1, 2], None),
        ("valve vs gasket", [1, 3], None),
        ("How does a gasket differ from a check valve?", [3, 2], None),
        ("Is a gasket better than a check valve?", [3, 2], None),
        ("Was ist der Unterschied zwischen einem valve und einem gasket?", [1, 3], None),
        ("Wie unterscheidet sich ein gasket von einem check valve?", [3, 2], None),
        ("Ist ein gasket besser als ein check valve?", [3, 2], None),
        ("Quelle est la différence entre une valve et un gasket ?", [1, 3], None),
        ("En quoi un gasket diffère-t-il d'un check valve ?", [3, 2], None),
        ("Le gasket est-il meilleur qu'un check valve ?", [3, 2], None),
        ("¿Es mejor un gasket que una check valve?", [3, 2], None),
        ("¿En qué se diferencia un gasket de una check valve?", [3, 2], None),
        ("Compare the gasket and the unheard of.", [3], ("gasket", "unheard of")),
        ("Compare rubber and gasket.", [3], ("rubber", "gasket")),
    ]:
        intent = await find_intent(database, query)
        assert (intent.kind, numbers(database, intent)) == ("comparison", documents), query
        assert intent.aspects == (aspects or tuple(things[one] for one in documents)), query


ASKED_OF_OTHERS = [
    ("s/orlow.example.md", "orlow.example: privacy policy", "We protect data. Users opt in."),
    ("s/steps.md", "First Steps", "Take these steps to begin with data."),
    ("s/registry.txt", "Disclosures to the Registry", "Users protect the data that they take."),
    ("s/guide.md", "Tutorial - User Guide", "What users need to share."),
    ("s/pipes.md", "Waterways", "Water and gas run in pipes here, power in lines."),
    ("s/startups.md", "Intellectual Property Protection for startups", "Property of the mind."),
    ("s/page.md", "The File Cabinet", "Words of no weight."),
    ("s/prices.md", "Plans of Corvane Cloud", "What each plan costs."),
]


async def test_a_question_lists_no_documents_by_its_words(
    database: Database, fresh: Connection
) -> None:
    for uri, name, text in ASKED_OF_OTHERS:
        put(fresh, uri, [text], title=name)
    for query, documents in [
        ("orlow.example privacy policy: What steps do you take to protect the user's data?", [1]),
        ("orlow.example privacy policy: Does the user need to opt in, and why?", [1]),
        ("who pays for water, gas and power", []),
        ("who pays for the water, the gas and the power", []),
        ("is the pepper read from the properties file, and when?", []),
        ("what does the protection page say of startups", []),
        ("what is in the file cabinet", [7]),
        ("What was the shelter's price in spring?", []),
        ("How do I deploy to Cloud Run?", []),
        ("How do I deploy to Corvane Cloud?", [8]),
        ("What do Corvane's prices hold?", [8]),
    ]:
        intent = await find_intent(database, query)
        assert numbers(database, intent) == documents, intent.reason
        assert intent.kind != "comparison", query


async def test_a_name_is_found_by_the_beginning_of_a_file_name_alone(
    database: Database, fresh: Connection
) -> None:
    """What the text does not hold is in no card as a word of its own; "birlotic" has an ending."""
    put(fresh, "f/KARSTOVENINC_2005.txt", ["Words of no weight."], title="1")
    put(fresh, "f/thebirlotic.com.md", ["Words without weight."], title="2")
    for query, documents in [
        ("Karstoven: who pays", [1]),
        ("Compare Karstoven and Fennwick: law", [1]),  # no file begins with Fennwick
        ("Does the Birlotic policy speak of cookies?", [2]),
        ("KarstOven vs the Birlotic: arbitration", [1, 2]),
        ("Karst Oven and the Birlotic: arbitration", [1, 2]),
    ]:
        assert numbers(database, await find_intent(database, query)) == documents, query


async def test_a_small_word_is_not_the_last_of_initials(
    database: Database, fresh: Connection
) -> None:
    titles = ["Data Privacy and Cookies", "Data Processing Addendum", "Bill of Lading"]
    title(fresh, [*titles, "Papers and of"])
    for initials, names in [
        ("DPA", "names 'Data Processing Addendum'"),
        ("BOL", "names 'Bill of Lading'"),
        ("PAO", "names no document"),
    ]:
        intent = await find_intent(database, f"who signs the {initials}")
        assert intent.reason.endswith(names)


async def test_a_title_with_the_name_of_another_documents_party_is_not_meant(
    database: Database, fresh: Connection
) -> None:
    parties = [("Mutual NDA", "Orrin and Thistle"), ("Secrecy", "a mutual NDA of Bleecker")]
    for number, (name, text) in enumerate(parties):
        put(fresh, f"m/{number}.md", [f"Between {text}."], title=name)
    for query, documents in [
        ("how can i end the mutual NDA with Orrin", [1]),
        ("how can i end the mutual NDA with Bleecker", []),  # found by the search
        ("how can i end the mutual NDA with Nobody", [1]),
        ("how can i end the mutual NDA with no notice", [1]),
    ]:
        assert numbers(database, await find_intent(database, query)) == documents, query


async def test_initials_in_small_letters_stand_for_a_whole_title_behind_an_article(
    database: Database, fresh: Connection
) -> None:
    title(
        fresh, ["Master Services Agreement", "Statement of Work: depot", "New Market Street Fair"]
    )
    for query, documents in [
        ("does the msa renew automatically", [1]),
        ("what does our sow cost", [2]),
        ("compare the msa and the sow: law", [1, 2]),
        ("does an msa renew automatically", []),
        ("is msa short for something", []),
        ("who may see the nms", []),  # the fair's title goes on
    ]:
        assert numbers(database, await find_intent(database, query)) == documents, query
    for number in range(9):  # a word of many documents is a word
        put(fresh, f"msa/{number}.md", ["One msa is a monthly sales account."], title=f"{number}")
    assert not numbers(database, await find_intent(database, "does the msa renew automatically"))


async def test_what_many_are_called_names_none_that_writes_it_as_one_word(
    database: Database, fresh: Connection
) -> None:
    titles = ["Kerst Non Disclosure Agreement", "Model NonDisclosure Agreement", "AgreementsGuide"]
    title(fresh, [*titles, *(f"Paper {number} Non-Disclosure Agreement" for number in range(4))])
    intent = await find_intent(database, "Consider Kerst's Non-Disclosure Agreement; who pays?")
    assert numbers(database, intent) == [1]


async def test_a_list_of_one_sort_of_document_is_no_long_title(
    database: Database, fresh: Connection
) -> None:
    title(fresh, ["Mutual NDA", "One way NDA clinical study", "NDA survival"])
    query = "Compare the mutual NDA with the clinical study NDA: survival, law"
    assert numbers(database, await find_intent(database, query)) == [1, 2]
