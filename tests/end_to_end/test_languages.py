"""Documents in several languages in one database, under all defaults."""

from pathlib import Path

import psycopg

from lexichord import SyncLexichord
from lexichord.db import schema
from tests.conftest import new_database

TEXTS = {
    "de": "Die Kündigungsfristen der Mieter betragen drei Monate. Verträge werden schriftlich "
    "geschlossen, und jede Änderung bedarf der Zustimmung beider Parteien.",
    "en": "The notice periods of the tenants are three months. Contracts are made in writing, and "
    "every change needs the consent of both parties.",
    "fr": "Les délais de préavis des locataires sont de trois mois. Les contrats sont conclus par "
    "écrit, et toute modification exige l'accord des deux parties.",
    "zh": "承租人的通知期限为三个月。合同应当以书面形式订立，任何修改均须经双方同意。",
    "none": "7 8 9",
    "key": "8uPr5e8gVGVzbGEgLSDw4/j5+iDn+unu5CDy7CDk4ff55CDs+On55e0gZjwq3JsD1pQ0w==",
}
CONFIGS = {
    "de": "german",
    "en": "english",
    "fr": "french",
    "zh": "simple",
    "none": None,
    "key": None,
}


def documents() -> list[dict[str, object]]:
    return [{"uri": name, "text": text} for name, text in TEXTS.items()]


def rows(dsn: str) -> dict[str, tuple[str | None, str | None]]:
    statement = "select uri, text_config::text, metadata->>'language' from lexichord_data.document"
    with psycopg.connect(dsn) as connection:
        return {uri: (config, language) for uri, config, language in connection.execute(statement)}


def test_each_document_has_the_configuration_of_its_language(
    embedding_dsn: str, home: Path
) -> None:
    with SyncLexichord(dsn=embedding_dsn, home=home) as lexichord:
        lexichord.ingest(documents=documents())
        assert rows(embedding_dsn) == {
            name: (config, name if config else None) for name, config in CONFIGS.items()
        }
        for question, uri in (
            ("Wie lang ist die Kündigungsfrist des Mieters?", "de"),
            ("what is the tenant's notice period", "en"),
            ("quel est le délai du locataire ?", "fr"),
            ("通知期限是多久？", "zh"),
        ):
            hits = lexichord.search(question, mode="keyword").hits
            assert hits[0].uri == uri, question
        found = lexichord.search("contract", filter={"language": "en"}).hits
        assert [hit.uri for hit in found] == ["en"]


def test_a_given_configuration_is_that_of_all(embedded_dsn: str, home: Path) -> None:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice(text_config="german"))
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            lexichord.ingest(documents=documents())
        assert {config for config, _ in rows(dsn).values()} == {None}
        assert rows(dsn)["fr"] == (None, "fr")


def test_a_language_that_the_document_brings_is_kept(embedding_dsn: str, home: Path) -> None:
    with SyncLexichord(dsn=embedding_dsn, home=home) as lexichord:
        given = {"uri": "de", "text": TEXTS["de"], "metadata": {"language": "German"}}
        lexichord.ingest(documents=[given])
    assert rows(embedding_dsn) == {"de": ("german", "German")}


def test_a_model_that_does_not_know_the_language_is_told_once(
    embedding_dsn: str, home: Path
) -> None:
    with SyncLexichord(dsn=embedding_dsn, home=home) as lexichord:
        report = lexichord.ingest(documents=documents())
        assert report.degraded == [
            "local/all-MiniLM-L6-v2/384 knows English only, and documents are in other languages "
            "(de 1, fr 1, zh 1): for search by meaning there run: lexichord models fetch "
            "multilingual-e5-small, then lexichord reembed --to local/multilingual-e5-small/384"
        ]
        english = [{"uri": "english", "text": TEXTS["en"]}]
        assert lexichord.ingest(documents=english).degraded == []
