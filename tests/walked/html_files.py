"""Web pages of drawn parts, and what is made of them: books and mails."""

import zipfile
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path

from hypothesis import strategies as st

from tests.walked.said import Said
from tests.walked.shapes import (
    CODES,
    HEADINGS,
    PICTURES,
    Area,
    Aside,
    Block,
    Code,
    Grid,
    Heading,
    Items,
    Paragraph,
    Picture,
    asides,
    blocks,
    grids,
    lists,
    words_of,
)
from tests.walked.writer import Writer

PIECES = "plain bold link code picture drawing hidden unseen remark script line button ruby"
BLOCKS = blocks(
    PIECES,
    HEADINGS,
    lists(),
    grids(extras="bold code picture hidden line"),
    CODES,
    PICTURES,
    asides("plain bold picture", HEADINGS, lists(2), CODES),
)
AROUND = st.tuples(*[st.booleans()] * 6)
OPENING = "The harbour has three piers, and each of them is swept at noon. " * 4
OPS = 'xmlns:epub="http://www.idpf.org/2007/ops"'
HIDDEN = "what is hidden: menus and dialogs, mostly"


class HtmlWriter(Writer):
    """Writes the blocks of one page."""

    def page(self, parts: Sequence[Block], around: Sequence[bool]) -> str:
        said = self.said
        has_nav, has_footer, has_form, has_main, has_aside, has_notes = around
        nav = f"<nav><a>{said.gone('navigation')}</a></nav>" if has_nav else ""
        footer = f"<footer>{said.gone('footers')}</footer>" if has_footer else ""
        form = f"<form><label>{said.gone('forms')}</label></form>" if has_form else ""
        body = f"<p>{OPENING}</p>{self.blocks(parts)}"
        if has_aside:
            body += f"<aside>{said.gone('asides')}</aside>"
        if has_notes:
            body += f'<aside role="doc-endnotes"><p>{said.text()}</p></aside>'
        main = f"<main>{body}</main>" if has_main else body
        about = f'<meta name="author" content="{said.fact("author")}">'
        head = f"<head><title>{said.fact('title')}</title>{about}</head>"
        return f"<html lang=en>{head}<body>{nav}{main}{form}{footer}</body></html>"

    def _block(self, block: Block) -> str:
        said = self.said
        if isinstance(block, Paragraph):
            return f"<p>{' '.join(map(self._piece, block.pieces))}</p>"
        if isinstance(block, Heading):
            return f"<h{block.level}>{said.heading()}</h{block.level}>"
        if isinstance(block, Items):
            return self._list(block)
        if isinstance(block, Code):
            return (
                "<pre><code>" + "\n".join(said.text() for _ in range(block.lines)) + "</code></pre>"
            )
        if isinstance(block, Grid):
            return self._table(block)
        if isinstance(block, Aside):
            return self._aside(block)
        assert isinstance(block, Picture)
        alt = f'<img src=a.png alt="the {said.picture()}">'
        caption = (
            f"<figcaption>{said.text(in_order=False)}</figcaption>" if block.has_caption else ""
        )
        return f"<figure>{alt}{caption}</figure>"

    def _aside(self, block: Aside) -> str:
        if block.title:
            summary = f"<summary>{self.said.text()}</summary>"
            return f"<details>{summary}{self.blocks(block.blocks)}</details>"
        if len(block.blocks) == 1:
            return f'<aside epub:type="footnote">{self.blocks(block.blocks)}</aside>'
        return f"<section>{self.blocks(block.blocks)}</section>"

    def _piece(self, kind: str) -> str:
        said = self.said
        if kind == "picture":
            return f'<img src=a.png alt="the {said.picture()}">'
        if kind == "drawing":
            return f"<svg><title>the {said.picture()}</title><path d=M0/></svg>"
        if kind in ("hidden", "unseen"):
            how = "hidden" if kind == "hidden" else 'style="display: none"'
            return f"<span {how}>{said.gone(HIDDEN)}</span>"
        if kind == "ruby":
            return f"<ruby>{said.text()}<rt>{said.text()}</rt></ruby>"
        if kind == "button":
            return f"<button>{said.gone('buttons')}</button>"
        if kind == "remark":
            return f"<!-- {said.gone('comments of the source')} -->"
        if kind == "script":
            return f"<script>{said.gone('scripts')}()</script>"
        tags = {"plain": "{}", "bold": "<b>{}</b>", "code": "<code>{}</code>", "line": "<br>{}"}
        return tags.get(kind, "<a href=http://x.example>{}</a>").format(said.text())

    def _list(self, items: Items) -> str:
        tag = "ol" if items.is_ordered else "ul"
        inner = "".join(
            f"<li>{self.said.text()}{self._list(item) if item else ''}</li>" for item in items.items
        )
        return f"<{tag}>{inner}</{tag}>"

    def _table(self, grid: Grid) -> str:
        words = words_of(grid, self.said)
        rows = (
            "".join(self._cell(grid, area, words[area]) for area in grid.own(row))
            for row in range(grid.rows)
        )
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def _cell(self, grid: Grid, area: Area, word: str) -> str:
        top, left, bottom, right = area
        tag = "td" if top else "th"
        piece = grid.extra(area)
        inner = f"{word} {self._extra(piece)}" if piece else word
        return f"<{tag} rowspan={bottom - top} colspan={right - left}>{inner}</{tag}>"


def make_epub(file: Path, said: Said, pages: Sequence[Sequence[Block]]) -> None:
    title, author = said.fact("title"), said.fact("author")
    dublin = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    told = f"<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator>"
    about = f"<metadata {dublin}>{told}</metadata>"
    item = '<item id="p{0}" href="p{0}.xhtml" media-type="application/xhtml+xml"/>'
    items = "".join(item.format(number) for number in range(len(pages)))
    spine = "".join(f'<itemref idref="p{number}"/>' for number in range(len(pages)))
    rootfile = '<container><rootfiles><rootfile full-path="o/c.opf"/></rootfiles></container>'
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("META-INF/container.xml", rootfile)
        package = f"<package>{about}<manifest>{items}</manifest><spine>{spine}</spine></package>"
        archive.writestr("o/c.opf", package)
        for number, parts in enumerate(pages):
            body = (
                f"<html {OPS}><body><p>{OPENING}</p>{HtmlWriter(said).blocks(parts)}</body></html>"
            )
            archive.writestr(f"o/p{number}.xhtml", body)


def make_eml(file: Path, said: Said, parts: Sequence[Block], has_plain: bool) -> None:
    """Write a mail in HTML; the same as plain text beside it stands once."""
    mail = EmailMessage()
    mail["From"], mail["To"] = f"{said.text()} <a@x.example>", f"{said.text()} <b@x.example>"
    mail["Subject"], mail["Date"] = said.text(), "Wed, 04 Mar 2026 10:00:00 +0000"
    said.order.clear()
    html = f"<html><body><p>{OPENING}</p>{HtmlWriter(said).blocks(parts)}</body></html>"
    if has_plain:
        mail.set_content("Your program shows no HTML.")
        mail.add_alternative(html, subtype="html")
    else:
        mail.set_content(html, subtype="html")
    mail.add_attachment(b"\0\1", maintype="image", subtype="png", filename=f"{said.word()}.png")
    file.write_bytes(mail.as_bytes())
