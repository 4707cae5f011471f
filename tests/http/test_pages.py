"""Pages of PDFs as pictures: what is marked, and which files are opened."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import matplotlib.image
import numpy as np
import psycopg
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

from lexichord.errors import ConfigError
from tests.documents import draw_pdf
from tests.http.served import Served, serve
from tests.http.server import finished

LINES = ["The tenant shall pay the rent", "on the first day of each month", "in good repair"]
PLACES = [(60.0, 700.0 - 40 * index, line) for index, line in enumerate(LINES)]


@pytest.fixture
def server(fresh: str, home: Path) -> Iterator[Served]:
    with serve(fresh, home=home, file_password="secret") as served:
        yield served


def marked_rows(png: bytes) -> set[int]:
    """Return the heights, in points from below, at which a picture is yellow."""
    image = matplotlib.image.imread(io.BytesIO(png), format="png")[:, :, :3]
    yellow = (image[:, :, 0] > 0.9) & (image[:, :, 2] < 0.4)
    scale = image.shape[0] / 841.89
    return {round(841.89 - row / scale) for row in np.flatnonzero(yellow.any(axis=1))}


def refusal(server: Served, path: str) -> tuple[int, str]:
    answer = server.by().get(path)
    return answer.status_code, answer.json()["error"]["message"]


def test_a_page_is_drawn_with_a_passage_marked(server: Served, tmp_path: Path) -> None:
    file, lexichord = draw_pdf(tmp_path / "lease.pdf", [PLACES, PLACES]), server.lexichord
    lexichord.ingest([file])
    (row,) = lexichord.list()
    start = lexichord.show(row.document_id).text.index("on the first")
    end = start + len(LINES[1])
    image = lexichord.page_image(row.document_id, 1, mark=(start, end))
    assert marked_rows(lexichord.page_image(row.document_id, 1)) == set()
    assert min(marked_rows(image)) >= 650
    assert max(marked_rows(image)) <= 680
    sizes = lexichord.page_sizes(row.document_id)
    assert [(size.page, round(size.width), round(size.height)) for size in sizes] == [
        (1, 595, 842),
        (2, 595, 842),
    ]
    path = f"/v1/documents/{row.document_id}/pages"
    answer = server.by().get(f"{path}/1.png", params={"mark": f"{start}-{end}"})
    assert (answer.headers["content-type"], answer.content) == ("image/png", image)
    assert refusal(server, f"{path}/1.png?mark=0-99999")[0] == 400
    beyond = refusal(server, f"{path}/3.png")
    assert (beyond[0], "has 2 pages" in beyond[1]) == (400, True)
    draw_pdf(file, [PLACES[:1]])
    changed = refusal(server, f"{path}/1.png")
    assert (changed[0], "ingest it again" in changed[1]) == (404, True)


def pack(archive: Path, content: bytes) -> None:
    with zipfile.ZipFile(archive, "w") as stream:
        stream.writestr("2024/lease.pdf", content)


def test_pages_of_contained_files_are_drawn_and_metadata_does_not_matter(
    server: Served, tmp_path: Path
) -> None:
    secret = StandardEncryption("secret", strength=128)
    lease = draw_pdf(tmp_path / "lease.pdf", [PLACES], encrypt=secret)
    archive, lexichord = tmp_path / "all.zip", server.lexichord
    pack(archive, lease.read_bytes())
    report = lexichord.ingest([lease, archive], metadata={"team": "legal"})
    assert (report.inserted, report.failed) == (2, {})
    images = [lexichord.page_image(str(uri), 1) for uri in (lease, archive / "2024/lease.pdf")]
    assert images[0] == images[1]
    (_, document) = sorted(lexichord.list(), key=lambda row: ".zip" in row.uri)
    lexichord.set_metadata(document.document_id, {"team": "sales"})
    assert lexichord.page_image(document.document_id, 1) == images[0]
    with pytest.raises(ConfigError, match=r"all\.zip/2024/lease\.pdf: has 1 page"):
        lexichord.page_image(document.document_id, 2)
    pack(archive, draw_pdf(tmp_path / "b.pdf", [PLACES[:1]]).read_bytes())
    path = f"/v1/documents/{document.document_id}/pages/1.png"
    changed = refusal(server, path)
    assert (changed[0], "ingest it again" in changed[1]) == (404, True)
    archive.unlink()
    assert refusal(server, path)[0] == 404


def test_a_uri_that_was_sent_opens_no_file(server: Served, tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "secret.pdf", [PLACES])
    sent = {"uri": str(file), "text": "gnu", "media_type": "application/pdf"}
    finished(server.by(), server.by().post("/v1/documents", json={"documents": [sent]}).json())
    (row,) = server.lexichord.list()
    status, message = refusal(server, f"/v1/documents/{row.document_id}/pages/1.png")
    assert (status, "was sent" in message) == (404, True)


def test_what_was_kept_is_shown_when_the_file_is_gone(server: Served, tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "lease of ü.pdf", [PLACES])
    content, client, lexichord = file.read_bytes(), server.by(), server.lexichord
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
    assert sent.headers["content-security-policy"] == "sandbox"
    assert lexichord.original(row.document_id).content == content
    assert client.get(f"{path}/pages/1.png").status_code == 200
    draw_pdf(file, [PLACES[:1]])
    lexichord.ingest([file])  # without: what was kept is of no use any more
    file.unlink()
    assert client.get(f"{path}/original").status_code == 404
    with psycopg.connect(server.dsn) as connection:
        kept = connection.execute("select count(*) from lexichord_data.original").fetchone()
    assert kept == (0,)


def test_parts_of_archives_and_uploads_are_kept(server: Served, tmp_path: Path) -> None:
    content = draw_pdf(tmp_path / "lease.pdf", [PLACES]).read_bytes()
    archive, lexichord = tmp_path / "all.zip", server.lexichord
    pack(archive, content)
    assert lexichord.ingest([archive], keep_originals=True).flagged == {}
    archive.unlink()
    (row,) = lexichord.list()
    assert lexichord.original(row.document_id).content == content
    for name, kept, status in (("a", "true", 200), ("b", "false", 404)):
        sent = {"dataset": name, "keep_originals": kept}
        files = {"files": ("lease.pdf", content)}
        job = server.by().post("/v1/documents:upload", files=files, data=sent).json()
        assert finished(server.by(), job)["failures"] == {}
        (uploaded,) = lexichord.list(datasets=[name])
        answer = server.by().get(f"/v1/documents/{uploaded.document_id}/original")
        assert answer.status_code == status


def test_boxes_of_a_hit_stand_where_its_words_do(server: Served, tmp_path: Path) -> None:
    second = [(60.0, 700.0, "and keeps the garden tidy."), (60.0, 100.0, "Nothing else here.")]
    lexichord = server.lexichord
    lexichord.ingest([draw_pdf(tmp_path / "lease.pdf", [PLACES, second])])
    (hit,) = lexichord.search("tenant rent garden", mode="keyword").hits
    boxes = lexichord.boxes(hit.document_id, hit.start, hit.end)
    assert [box.page for box in boxes] == [1, 1, 1, 2, 2]
    for box, (left, baseline, _) in zip(boxes, [*PLACES, *second], strict=True):
        assert box.left == pytest.approx(left / 595.28, abs=0.01)
        assert box.top < 1 - baseline / 841.89 < box.bottom + 0.01
        assert box.left < box.right < 1
    path = f"/v1/documents/{hit.document_id}/boxes"
    sent = server.by().get(path, params={"mark": f"{hit.start}-{hit.end}"}).json()
    assert sent == {"boxes": [box.to_dict() for box in boxes]}
    start = hit.start + hit.content.index("the first")
    assert len(lexichord.boxes(hit.document_id, start, start + len("the first day"))) == 1
    assert [refusal(server, path + mark)[0] for mark in ("?mark=0-99999", "")] == [400, 422]


def test_a_table_that_is_drawn_by_columns_is_marked_row_by_row(
    server: Served, tmp_path: Path
) -> None:
    """Its text goes by rows: no three words of it follow each other as they are drawn."""
    columns = (
        ("Ada", "Ben", "Cleo", "Dan"),
        ("12", "34", "56", "78"),
        ("oak", "elm", "ash", "yew"),
    )
    cells = [
        (60.0 + 150 * x, 700.0 - 20 * y, word)
        for x, column in enumerate(columns)
        for y, word in enumerate(column)
    ]
    server.lexichord.ingest([draw_pdf(tmp_path / "table.pdf", [cells])])
    text = server.lexichord.show("table.pdf").text
    boxes = server.lexichord.boxes("table.pdf", text.index("Ben"), text.index("ash") + 3)
    assert [round((1 - box.bottom) * 841.89 / 20) for box in boxes] == [34, 33]
    assert all(box.left < 0.11 and box.right > 0.6 for box in boxes)


def test_a_passage_leaves_no_mark_on_pages_that_it_does_not_reach(
    server: Served, tmp_path: Path
) -> None:
    """Its last word is drawn first, so that it does not follow the others on its own page."""
    first = [(60.0, 680.0, "Roll"), (60.0, 700.0, "The tenant keeps the garden and the rent")]
    second = [(60.0, 700.0, "Another clause speaks of Roll and of roses.")]
    server.lexichord.ingest([draw_pdf(tmp_path / "a.pdf", [first, second])])
    end = server.lexichord.show("a.pdf").text.index("Roll") + 4
    assert {box.page for box in server.lexichord.boxes("a.pdf", 0, end)} == {1}
