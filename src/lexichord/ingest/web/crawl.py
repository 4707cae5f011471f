"""Pages one after another, as sources: those named, those of a sitemap, those they link to."""

import gzip
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from lexichord.db import catalogue, store
from lexichord.db.pool import Database, Row
from lexichord.errors import IngestError, NotFoundError
from lexichord.ingest.files import FileSources
from lexichord.ingest.load import ENDINGS, HTML_TYPE, TYPE_ALIASES, kind_of, unread_kind
from lexichord.ingest.sources import IngestSource, refused_source
from lexichord.ingest.web import (
    PUBLIC,
    USER_AGENT,
    WEB_LIMITS,
    Fetched,
    Reach,
    StatusError,
    Validators,
    WebLimits,
    fetch,
    normal_url,
)
from lexichord.types import Scope
from lexichord.work import check_wanted, in_thread

MAX_ROBOTS_BYTES = 500_000  # what comes after is not heeded
MAX_CRAWL_DELAY_SECONDS = 10.0  # that a robots.txt may ask for
MAX_SITEMAP_DEPTH = 3  # indexes of indexes
SITEMAP_HEAD_BYTES = 10_000  # in which its root begins
HTML_TYPES = (HTML_TYPE, "application/xhtml+xml")
GZIP_SIGNATURE = b"\x1f\x8b"

PASSING_STATUSES = (408, 425, 429)  # of those that are the asker's fault


class RobotsError(IngestError):
    """A page that a site's robots.txt forbids to read."""


type RobotRules = RobotFileParser | None  # None where they forbid all


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page that was fetched, or the `error` why it was not."""

    url: str
    fetched: Fetched | None = None
    error: IngestError | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A page to fetch: how many links, and how many sitemaps, led to it."""

    url: str
    depth: int = 0
    maps: int = 0

    @property
    def is_linked(self) -> bool:
        """Whether nobody named it."""
        return self.depth > 0 or self.maps > 0


@dataclass(frozen=True, slots=True)
class _Following:
    places: list[_Place]
    is_sitemap: bool = False


@dataclass
class Crawl:
    """A walk over pages. `left_out` holds, by address, why pages were not looked at.

    `dead_links` holds why pages are not there to which links or sitemaps led: a site with such a
    link is read as well as one without.

    `known` are pages that need not be sent again if they are the same. Links and sitemaps lead to
    pages of their own site only.
    """

    known: Mapping[str, Validators] = field(default_factory=dict)
    limits: WebLimits = WEB_LIMITS
    reach: Reach = PUBLIC
    left_out: dict[str, str] = field(default_factory=dict)
    dead_links: dict[str, str] = field(default_factory=dict)
    _robots: dict[str, RobotRules] = field(default_factory=dict)
    _waited: dict[str, float] = field(default_factory=dict)  # when a site was asked last

    def pages(self, urls: Iterable[str]) -> Iterator[WebPage]:
        """Yield the pages in the order in which they are found, each once."""
        queue = deque(_Place(url) for url in urls)
        seen, done = {place.url for place in queue}, set[str]()
        budget = self.limits.total_bytes
        deadline = time.monotonic() + self.limits.total_seconds
        while queue:
            check_wanted()
            place = queue.popleft()
            if why := self._spent(len(done), budget, deadline):
                self.left_out[place.url] = why
                continue
            page = self._page(place)
            budget -= len(page.fetched.content) if page.fetched else 0
            following = self._following(place, page.fetched)
            queue.extend(other for other in following.places if other.url not in seen)
            seen.update(other.url for other in following.places)
            if not following.is_sitemap and page.url not in done:
                done.add(page.url)
                if place.is_linked and isinstance(page.error, RobotsError):
                    self.left_out[page.url] = str(page.error)
                elif place.is_linked and _is_gone(page.error):
                    self.dead_links[page.url] = str(page.error)
                else:
                    yield page

    def _following(self, place: _Place, fetched: Fetched | None) -> _Following:
        """Return where a page leads: the pages of a sitemap, or those that it links to."""
        if fetched is None:
            return _Following([])
        if not place.depth and place.maps < MAX_SITEMAP_DEPTH:
            listed = self._sitemap(fetched)
            if listed is not None:
                places = [_Place(url, 0, place.maps + 1) for url in dict.fromkeys(listed)]
                return _Following(places, is_sitemap=True)
        links = self._links(fetched) if place.depth < self.limits.depth else []
        return _Following([_Place(url, place.depth + 1) for url in dict.fromkeys(links)])

    def _spent(self, pages: int, budget: int, deadline: float) -> str:
        """Name the limit that is reached."""
        if pages >= self.limits.pages:
            return f"beyond {self.limits.pages} pages"
        if budget <= 0:
            return f"beyond {self.limits.total_bytes // 10**6} MB"
        if time.monotonic() > deadline:
            return f"beyond {self.limits.total_seconds:g} s"
        return ""

    def _page(self, place: _Place) -> WebPage:
        url = place.url
        try:
            rules = self._rules(url)
            if rules is None or not rules.can_fetch(USER_AGENT, url):
                raise RobotsError("the site's robots.txt forbids it")
            self._wait(url, rules)
            # the links of a page that is not sent again are not known
            known = self.known if place.depth == self.limits.depth else {}
            fetched = fetch(url, known, self.limits, self.reach)
            return WebPage(fetched.url, fetched)
        except IngestError as error:
            return WebPage(url, error=error)

    def _rules(self, url: str) -> RobotRules:
        """Return what a site's robots.txt says; without one everything is allowed."""
        site = _site(url)
        if site not in self._robots:
            self._robots[site] = self._read_rules(site)
        return self._robots[site]

    def _read_rules(self, site: str) -> RobotRules:
        rules = RobotFileParser()
        lines: list[str] = []
        try:
            answer = fetch(f"{site}/robots.txt", {}, self.limits, self.reach)
            lines = answer.content[:MAX_ROBOTS_BYTES].decode(errors="replace").splitlines()
        except StatusError as error:
            if error.status in (401, 403) or error.status >= 500:
                return None
        rules.parse(lines)
        return rules

    def _wait(self, url: str, rules: RobotFileParser) -> None:
        """Wait as long as a site asks to be left alone between two pages."""
        delay = min(float(rules.crawl_delay(USER_AGENT) or 0), MAX_CRAWL_DELAY_SECONDS)
        site, now = _site(url), time.monotonic()
        due = self._waited.get(site, now)
        time.sleep(max(due - now, 0))
        self._waited[site] = max(due, now) + delay

    def _sitemap(self, fetched: Fetched) -> list[str] | None:
        """Return the addresses in a sitemap, or in an index of such; None if it is none."""
        from lxml import etree

        content = fetched.content
        with suppress(OSError, EOFError, zlib.error):
            if content.startswith(GZIP_SIGNATURE):
                with gzip.open(BytesIO(content)) as unpacked:
                    content = unpacked.read(self.limits.page_bytes)
        head = content[:SITEMAP_HEAD_BYTES]
        if b"urlset" not in head and b"sitemapindex" not in head:
            return None
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        root = etree.fromstring(content, parser)
        if root is None or etree.QName(root).localname not in ("urlset", "sitemapindex"):
            return None
        places = root.iterfind("{*}*/{*}loc")
        return self._same_site(fetched.url, (place.text or "" for place in places))

    def _links(self, fetched: Fetched) -> list[str]:
        if fetched.media_type not in HTML_TYPES or not fetched.content.strip():
            return []
        from lxml import etree, html

        try:
            root = html.fromstring(fetched.content)
        except etree.LxmlError:  # no page at all, whatever the server says
            return []
        base = next((tag.get("href", "") for tag in root.iterfind(".//base")), "")
        here = urljoin(fetched.url, base)
        links = (tag.get("href", "") for tag in root.iterfind(".//a"))
        return self._same_site(fetched.url, (urljoin(here, link) for link in links))

    def _same_site(self, url: str, others: Iterable[str]) -> list[str]:
        """Return those of some addresses that are of a page's own site."""
        own: list[str] = []
        for other in others:
            with suppress(IngestError, ValueError):  # mailto: and the like
                address = normal_url(other)
                if _site(address) == _site(url):
                    own.append(address)
        return own


def _is_gone(error: IngestError | None) -> bool:
    """Return whether a page is not there, or not for us, and so it will be the next time."""
    if not isinstance(error, StatusError) or error.status in PASSING_STATUSES:
        return False
    return 400 <= error.status < 500


def _site(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def split_addresses(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Part the addresses of pages from the paths of files."""
    urls, files = list[str](), list[str]()
    for path in paths:
        (urls if is_address(path) else files).append(path)
    return urls, files


def is_address(path: str) -> bool:
    """Return whether it is an address of the web, not a file."""
    return path.lower().startswith(("http://", "https://"))


MAX_PAGE_NAME_CHARS = 60
_THREADS = ThreadPoolExecutor(thread_name_prefix="lexichord-pages")  # files do not wait for pages
ETAG, LAST_MODIFIED = "etag", "last_modified"  # keys of a page's metadata
GENERAL_TYPES = ("", "text/plain", "application/octet-stream", "binary/octet-stream")


@dataclass(frozen=True, slots=True)
class WebSources:
    """Fetches pages into a folder, and makes sources of them."""

    files: FileSources
    folder: Path
    limits: WebLimits
    reach: Reach

    async def find(self, database: Database, urls: Sequence[str]) -> list[IngestSource]:
        """Return the pages that addresses lead to, in the order in which they were found."""
        stored = await self._stored(database)
        validators = {url: _validators(row["metadata"]) for url, row in stored.items()}
        search = self.files.search
        crawl = Crawl(validators, self.limits, self.reach, search.left_out, search.dead_links)
        return await in_thread(self._sources, crawl, urls, stored, threads=_THREADS)

    async def _stored(self, database: Database) -> dict[str, Row]:
        """Return the digests and metadata of the pages that are stored as they would be now."""
        try:
            scope = Scope(datasets=(self.files.dataset,), uri_prefix="http")
            listed = await catalogue.list_documents(database, scope)
        except NotFoundError:  # no such dataset as yet
            return {}
        uris = [row.uri for row in listed]
        digests = await store.document_digests(database, self.files.dataset, uris)
        return {
            row.uri: {**digests[row.uri], "metadata": row.metadata}
            for row in listed
            if row.uri in digests
            and digests[row.uri]["recipe"] == self._recipe(row.uri, row.media_type)
        }

    def _recipe(self, url: str, media_type: str) -> str:
        return self.files.recipe(file_name(url, media_type), self.files.metadata)

    def _sources(
        self, crawl: Crawl, urls: Sequence[str], stored: Mapping[str, Row]
    ) -> list[IngestSource]:
        return [
            source
            for number, page in enumerate(crawl.pages(urls))
            if (source := self._source(number, page, stored))
        ]

    def _source(self, number: int, page: WebPage, stored: Mapping[str, Row]) -> IngestSource | None:
        fetched = page.fetched
        if fetched is None:
            return refused_source(page.url, page.error or IngestError("was not fetched"))
        if fetched.is_unchanged:
            row = stored[page.url]
            same = refused_source(page.url, IngestError("changed meanwhile: ingest it again"))
            return replace(same, sha256=row["sha256"], recipe=row["recipe"])
        name = file_name(page.url, fetched.media_type)
        if kind_of(name) is None:
            self.files.search.unread[page.url] = fetched.media_type or unread_kind(name)
            return None
        file = self.folder / str(number) / name
        file.parent.mkdir()
        file.write_bytes(fetched.content)
        version = {ETAG: fetched.validators.etag, LAST_MODIFIED: fetched.validators.last_modified}
        known = {key: value for key, value in version.items() if value}
        return self.files.source(file, page.url, known)


def file_name(url: str, media_type: str) -> str:
    """Return a name for what an address gave, whose ending tells the kind that the server says.

    A site's first page is named by the host, its title where it says none itself.
    """
    parts = urlsplit(url)
    last = PurePosixPath(unquote(parts.path)).name
    named = last or parts.hostname or ""
    kept = "".join(sign if sign.isalnum() or sign in "-_. " else "_" for sign in named)
    name = kept.strip(". ")[-MAX_PAGE_NAME_CHARS:] or "index"
    kind = TYPE_ALIASES.get(media_type, media_type)
    told = kind_of(name) if last else None  # what a host ends with tells nothing
    if told and kind in (*GENERAL_TYPES, told):
        return name
    ending = ENDINGS.get(kind, "").partition(" ")[0] or f".{kind.rpartition('/')[2]}"
    return f"{PurePosixPath(name).stem if last else name}{ending}"


def _validators(metadata: Mapping[str, object]) -> Validators:
    etag, last_modified = metadata.get(ETAG), metadata.get(LAST_MODIFIED)
    return Validators(str(etag or ""), str(last_modified or ""))
