"""Pages of PDFs as pictures: what is marked, and which files are opened."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import psycopg
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from tests.documents import draw_pdf
from tests.http.server import Server, finished

LINES = ["The tenant shall pay the rent", "on the first day of each month", "in good repair"]
PLACES = [(60.0, 700.0 - 40 * index, line) for index, line in enumerate(LINES)]


@pytest.fixture
def server(fresh: str, home: Path) -> Iterator[Server]:
    with Server(fresh, home) as server:
        yield server


def marked_rows(png: bytes) -> set[int]:
    """Return the heights, in points from below, at which a picture is yellow."""
    import matplotlib.image

    image = matplotlib.image.imread(io.BytesIO(png), format="png")[:, :, :3]
    yellow = (image[:, :, 0] > 0.9) & (image[:, :, 2] < 0.4)
    scale = image.shape[0] / 841.89
    return {round(841.89 - row / scale) for row in np.flatnonzero(yellow.any(axis=1))}


def test_a_page_is_drawn_with_a_passage_marked(server: Server, fresh: str, tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "lease.pdf", [PLACES])
    with SyncLexichord(dsn=fresh) as lexichord:
        lexichord.ingest([file])
        (document,) = lexichord.list()
        text = lexichord.show(document.document_id).text
        start = text.index("on the first")
        end = start + len(LINES[1])
        image = lexichord.page_image(document.document_id, 1, mark=(start, end))
        assert marked_rows(lexichord.page_image(document.document_id, 1)) == set()
    assert min(marked_rows(image)) >= 650
    assert max(marked_rows(image)) <= 680
    with server.client() as client:
        path = f"/v1/documents/{document.document_id}/pages"
        answer = client.get(f"{path}/1.png", params={"mark": f"{start}-{end}"})
        assert (answer.headers["content-type"], answer.content) == ("image/png", image)
        assert client.get(f"{path}/1.png", params={"mark": "0-99999"}).status_code == 400
        beyond = client.get(f"{path}/2.png")
        assert (beyond.status_code, "has 1 page" in beyond.text) == (400, True)
        draw_pdf(file, [PLACES[:1]])
        changed = client.get(f"{path}/1.png")
        assert (changed.status_code, "ingest it again" in changed.text) == (404, True)


def test_pages_of_contained_files_are_drawn_and_metadata_does_not_matter(
    server: Server, fresh: str, tmp_path: Path
) -> None:
    secret = StandardEncryption("secret", strength=128)
    lease = draw_pdf(tmp_path / "lease.pdf", [PLACES], encrypt=secret)
    archive = tmp_path / "all.zip"
    pack(archive, {"2024/lease.pdf": lease.read_bytes()})
    with SyncLexichord(dsn=fresh, file_password="secret") as lexichord:
        report = lexichord.ingest([lease, archive], metadata={"team": "legal"})
        assert (report.inserted, report.failed) == (2, {})
        images = [lexichord.page_image(str(uri), 1) for uri in (lease, archive / "2024/lease.pdf")]
        assert images[0] == images[1]
        (_, document) = sorted(lexichord.list(), key=lambda row: ".zip" in row.uri)
        lexichord.set_metadata(document.document_id, {"team": "sales"})
        assert lexichord.page_image(document.document_id, 1) == images[0]
        with pytest.raises(ConfigError, match=r"all\.zip/2024/lease\.pdf: has 1 page"):
            lexichord.page_image(document.document_id, 2)
    pack(archive, {"2024/lease.pdf": draw_pdf(tmp_path / "b.pdf", [PLACES[:1]]).read_bytes()})
    with server.client() as client:
        path = f"/v1/documents/{document.document_id}/pages/1.png"
        changed = client.get(path)
        assert (changed.status_code, "ingest it again" in changed.text) == (404, True)
        archive.unlink()
        assert client.get(path).status_code == 404


def pack(archive: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(archive, "w") as stream:
        for name, content in parts.items():
            stream.writestr(name, content)


def test_a_uri_that_was_sent_opens_no_file(server: Server, tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "secret.pdf", [PLACES])
    sent = {"uri": str(file), "text": "gnu", "media_type": "application/pdf"}
    with server.client() as client:
        answer = client.post("/v1/documents", json={"documents": [sent]})
        finished(client, answer.json())
        (row,) = client.get("/v1/documents").json()["documents"]
        refused: httpx.Response = client.get(f"/v1/documents/{row['document_id']}/pages/1.png")
        assert (refused.status_code, "was sent" in refused.text) == (404, True)
        assert "PNG" not in refused.text


def test_what_was_kept_is_shown_when_the_file_is_gone(
    server: Server, fresh: str, tmp_path: Path
) -> None:
    file = draw_pdf(tmp_path / "lease of ü.pdf", [PLACES])
    content = file.read_bytes()
    with SyncLexichord(dsn=fresh) as lexichord, server.client() as client:
        lexichord.ingest([file])
        (row,) = lexichord.list()
        path = f"/v1/documents/{row.document_id}"
        assert client.get(f"{path}/original").content == content  # from its place
        assert lexichord.ingest([file], keep_originals=True).skipped == 1
        file.unlink()
        sent = client.get(f"{path}/original")
        assert (sent.content, sent.headers["content-type"]) == (content, "application/pdf")
        disposition = "attachment; filename*=UTF-8''lease%20of%20%C3%BC.pdf"
        assert sent.headers["content-disposition"] == disposition
        assert sent.headers["x-content-type-options"] == "nosniff"
        assert lexichord.original(row.document_id).content == content
        assert client.get(f"{path}/pages/1.png").status_code == 200
        draw_pdf(file, [PLACES[:1]])
        lexichord.ingest([file])  # without: what was kept is of no use any more
        file.unlink()
        assert client.get(f"{path}/original").status_code == 404
        with psycopg.connect(fresh) as connection:
            kept = connection.execute("select count(*) from lexichord_data.original").fetchone()
        assert kept == (0,)


def test_parts_of_archives_and_uploads_are_kept(server: Server, fresh: str, tmp_path: Path) -> None:
    content = draw_pdf(tmp_path / "lease.pdf", [PLACES]).read_bytes()
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("in/lease.pdf", content)
    with SyncLexichord(dsn=fresh) as lexichord, server.client() as client:
        assert lexichord.ingest([archive], keep_originals=True).flagged == {}
        archive.unlink()
        (row,) = lexichord.list()
        assert lexichord.original(row.document_id).content == content
        files = {"files": ("lease.pdf", content)}
        for name, kept in (("a", "true"), ("b", "false")):
            sent = {"dataset": name, "keep_originals": kept}
            job = client.post("/v1/documents:upload", files=files, data=sent).json()
            assert finished(client, job)["failures"] == {}
            (uploaded,) = lexichord.list(datasets=[name])
            answer = client.get(f"/v1/documents/{uploaded.document_id}/original")
            assert answer.status_code == (200 if kept == "true" else 404)


def test_boxes_of_a_hit_stand_where_its_words_do(
    server: Server, fresh: str, tmp_path: Path
) -> None:
    second = [(60.0, 700.0, "and keeps the garden tidy."), (60.0, 100.0, "Nothing else here.")]
    file = draw_pdf(tmp_path / "lease.pdf", [PLACES, second])
    with SyncLexichord(dsn=fresh) as lexichord, server.client() as client:
        lexichord.ingest([file])
        (hit,) = lexichord.search("tenant rent garden", mode="keyword").hits
        boxes = lexichord.boxes(hit.document_id, hit.start, hit.end)
        assert [box.page for box in boxes] == [1, 1, 1, 2, 2]
        for box, (left, baseline, _) in zip(boxes, [*PLACES, *second], strict=True):
            assert box.left == pytest.approx(left / 595.28, abs=0.01)
            assert box.top < 1 - baseline / 841.89 < box.bottom + 0.01
            assert box.left < box.right < 1
        path = f"/v1/documents/{hit.document_id}/boxes"
        sent = client.get(path, params={"mark": f"{hit.start}-{hit.end}"}).json()
        assert sent == {"boxes": [box.to_dict() for box in boxes]}
        start = hit.start + hit.content.index("the first")
        assert len(lexichord.boxes(hit.document_id, start, start + len("the first day"))) == 1
        assert client.get(path, params={"mark": "0-99999"}).status_code == 400
        assert client.get(path).status_code == 422


def test_a_table_that_is_drawn_by_columns_is_marked_row_by_row(fresh: str, tmp_path: Path) -> None:
    """Its text goes by rows: no three words of it follow each other as they are drawn."""
    rows = [("Ada", "12", "oak"), ("Ben", "34", "elm"), ("Cleo", "56", "ash")]
    rows += [("Dan", "78", "yew")]
    columns = zip(*rows, strict=True)
    cells = [
        (60.0 + 150 * x, 700.0 - 20 * y, word)
        for x, column in enumerate(columns)
        for y, word in enumerate(column)
    ]
    with SyncLexichord(dsn=fresh) as lexichord:
        lexichord.ingest([draw_pdf(tmp_path / "table.pdf", [cells])])
        (row,) = lexichord.list()
        text = lexichord.show(row.document_id).text
        start, end = text.index("Ben"), text.index("ash") + 3
        boxes = lexichord.boxes(row.document_id, start, end)
        assert [round((1 - box.bottom) * 841.89 / 20) for box in boxes] == [34, 33]
        assert all(box.left < 0.11 and box.right > 0.6 for box in boxes)


def test_a_passage_leaves_no_mark_on_pages_that_it_does_not_reach(
    fresh: str, tmp_path: Path
) -> None:
    """Its last word is drawn first, so that it does not follow the others on its own page."""
    first = [(60.0, 680.0, "Roll"), (60.0, 700.0, "The tenant keeps the garden and the rent")]
    second = [(60.0, 700.0, "Another clause speaks of Roll and of roses.")]
    with SyncLexichord(dsn=fresh) as lexichord:
        lexichord.ingest([draw_pdf(tmp_path / "a.pdf", [first, second])])
        (row,) = lexichord.list()
        text = lexichord.show(row.document_id).text
        end = text.index("Roll") + 4
        assert {box.page for box in lexichord.boxes(row.document_id, 0, end)} == {1}


def test_pages_have_sizes(fresh: str, tmp_path: Path) -> None:
    with SyncLexichord(dsn=fresh) as lexichord:
        lexichord.ingest([draw_pdf(tmp_path / "a.pdf", [PLACES, PLACES])])
        (row,) = lexichord.list()
        sizes = lexichord.page_sizes(row.document_id)
        assert [(size.page, round(size.width), round(size.height)) for size in sizes] == [
            (1, 595, 842),
            (2, 595, 842),
        ]
