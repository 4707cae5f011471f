"""Pages of the web: what is asked, what is not, and within which limits. Against real servers."""

import asyncio
import gzip
import re
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import Any

import pytest

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.web import WEB_LIMITS, Reach, Validators, check_url, fetch, normal_url
from lexichord.ingest.web.crawl import Crawl, WebPage, file_name
from lexichord.work import UnwantedError, in_thread
from tests.http_server import Manner, Reply, Request, http_server

ANYWHERE = Reach(allow_private=True)
HTML = "text/html; charset=utf-8"


@dataclass
class Site:
    """Pages by path; what was asked is kept."""

    url: str = ""
    pages: dict[str, Reply] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)

    def put(
        self, path: str, body: str | bytes, status: int = 200, manner: Manner = "whole", **sent: str
    ) -> None:
        named = {"content_type": HTML, **sent}
        headers = {name.replace("_", "-"): each for name, each in named.items()}
        content = body.encode() if isinstance(body, str) else body
        self.pages[path] = Reply(status, content, headers, manner)

    def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        page = self.pages.get(request.path, Reply(404, b""))
        etag = page.headers.get("etag")
        is_known = etag is not None and request.headers.get("if-none-match") == etag
        return replace(page, status=304, body=b"") if is_known else page

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.asked]


@contextmanager
def serve_site() -> Iterator[Site]:
    own = Site()
    with http_server(Request, own.reply) as own.url:
        yield own


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as own:
        yield own


def crawled(site: Site, *paths: str, **options: Any) -> tuple[list[WebPage], Crawl]:
    crawl = Crawl(reach=ANYWHERE, **options)
    return list(crawl.pages([f"{site.url}{path}" for path in paths])), crawl


def names(site: Site, pages: Sequence[WebPage]) -> list[str]:
    return [page.url.removeprefix(site.url) for page in pages]


def test_a_private_address_is_not_asked(site: Site) -> None:
    site.put("/", "secret")
    with pytest.raises(IngestError, match=r"private address, 127\.0\.0\.1: allow it by --allow-pr"):
        fetch(f"{site.url}/", {})
    assert site.asked == []
    assert fetch(f"{site.url}/", {}, reach=ANYWHERE).content == b"secret"


PUBLIC = "93.184.216.34"  # never asked: connections to it go to the test's own server


@dataclass
class Network:
    """Names, each with its addresses in turn, parted by spaces, and where connections went."""

    names: dict[str, Iterator[str]]
    reached: list[str] = field(default_factory=list)


@pytest.fixture
def network(site: Site, monkeypatch: pytest.MonkeyPatch) -> Network:
    own = Network({})
    port = int(site.url.rpartition(":")[2])
    connect = socket.create_connection

    def resolve(host: str, port: int, *_: Any, **__: Any) -> Any:
        addresses = next(own.names[host]) if host in own.names else host
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in addresses.split()]

    def reach(address: tuple[str, int], timeout: float) -> socket.socket:
        own.reached.append(address[0])
        monkeypatch.setattr(socket, "getaddrinfo", known)
        try:
            return connect(("127.0.0.1", port), timeout)
        finally:
            monkeypatch.setattr(socket, "getaddrinfo", resolve)

    known = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", reach)
    return own


def test_a_host_of_public_and_private_addresses_is_asked_at_a_public_one(
    site: Site, network: Network
) -> None:
    network.names = {"both.test": iter([f"10.0.0.7 169.254.169.254 {PUBLIC}"])}
    site.put("/", "words")
    assert fetch("http://both.test/", {}).content == b"words"
    assert network.reached == [PUBLIC]


def test_where_a_cloud_tells_of_itself_nobody_asks(site: Site, network: Network) -> None:
    """Whatever is allowed: it tells the keys of the machine."""
    site.put("/", "secret")
    numbers = ("169.254.169.254", "0xa9fea9fe", "100.100.100.200", "168.63.129.16", "192.0.0.192")
    network.names = {name: iter(["169.254.169.254"] * 9) for name in ("a.test", "0xa9fea9fe")}
    named = Reach.of(["*", *numbers, "a.test", "metadata.google.internal"])
    for host in (*numbers, "a.test", "metadata.google.internal.", "METADATA.goog"):
        for reach in (Reach(), ANYWHERE, named):
            with pytest.raises(IngestError, match="is a cloud's metadata service"):
                fetch(normal_url(f"http://{host}/"), {}, reach=reach)
    site.put("/away", "", 302, location="http://169.254.169.254/latest/meta-data/")
    network.names["outside.test"] = iter([PUBLIC])
    with pytest.raises(IngestError, match="is a cloud's metadata service"):
        fetch("http://outside.test/away", {}, reach=ANYWHERE)
    assert network.reached == [PUBLIC]


@pytest.mark.parametrize(
    "host", ["0177.0.0.1", "0x7f.1", "2130706433", "127.1", "017700000001", "[::ffff:7f00:1]"]
)
def test_numbers_are_judged_however_they_are_written(site: Site, host: str) -> None:
    with pytest.raises(IngestError, match="is at a private address"):
        fetch(normal_url(f"http://{host}/"), {})
    with pytest.raises(IngestError, match="is not among LEXICHORD_FETCH_HOSTS"):
        fetch(normal_url(f"http://{host}/"), {}, reach=Reach.of(["127.0.0.1"]))
    with pytest.raises(IngestError, match="LEXICHORD_FETCH_HOSTS has to name"):
        fetch(normal_url(f"http://{host}/"), {}, reach=Reach.of(["*"]))


def test_a_redirection_to_a_private_address_is_not_followed(site: Site, network: Network) -> None:
    network.names = {"outside.test": iter([PUBLIC]), "inside.test": iter(["10.0.0.7"])}
    site.put("/", "", 302, location="http://inside.test/private")
    with pytest.raises(IngestError, match=r"private address, 10\.0\.0\.7"):
        fetch("http://outside.test/", {})
    assert network.reached == [PUBLIC]
    assert site.paths == ["/"]


def test_a_name_is_resolved_once(site: Site, network: Network) -> None:
    """One that means a public address when it is checked, and a private one afterwards."""
    network.names = {"rebound.test": iter([PUBLIC, "127.0.0.1"])}
    site.put("/", "words")
    assert fetch("http://rebound.test/", {}).content == b"words"
    assert network.reached == [PUBLIC]
    assert site.asked[0].headers["host"] == "rebound.test"
    with pytest.raises(IngestError, match=r"private address, 127\.0\.0\.1"):
        fetch("http://rebound.test/", {})


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTP://Example.COM:80/a b?q=ü#part", "http://example.com/a%20b?q=%C3%BC"),
        ("https://bücher.example", "https://xn--bcher-kva.example/"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://[0:0::1]/x", "http://[::1]/x"),
        ("http://example.com./x", "http://example.com/x"),
        ("http://\uff11\uff12\uff17.\u24ea.0.1/", "http://127.0.0.1/"),
    ],
)
def test_addresses_have_one_form(url: str, normal: str) -> None:
    assert normal_url(url) == normal


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "ftp://a.test/", "http://", "http://u:p@a.test/", "http://a:x/"),
        *("http://a.test\\@b.test/", "http://a.test\\.b.test/", "http://a%00.test/", "http://a b/"),
        *("http://a..test/", "http://./", "http://a℀.test/", "http://[::1/"),
    ],
)
def test_what_is_no_page_is_refused(url: str) -> None:
    with pytest.raises(IngestError):
        normal_url(url)


def test_an_unchanged_page_is_not_sent_again(site: Site) -> None:
    site.put("/a.html", "<p>Words", etag='"1"', last_modified="Tue, 01 Oct 2024 12:00:00 GMT")
    url = f"{site.url}/a.html"
    first = fetch(url, {}, reach=ANYWHERE)
    assert first.validators == Validators('"1"', "Tue, 01 Oct 2024 12:00:00 GMT")
    again = fetch(url, {url: first.validators}, reach=ANYWHERE)
    assert (again.is_unchanged, again.content) == (True, b"")
    assert site.asked[-1].headers["if-modified-since"] == first.validators.last_modified
    site.put("/a.html", "<p>Other", etag='"2"')
    assert fetch(url, {url: first.validators}, reach=ANYWHERE).content == b"<p>Other"


def test_pages_have_limits(site: Site) -> None:
    limits = replace(WEB_LIMITS, page_bytes=1000, page_seconds=0.5, connect_seconds=5)

    def refused(path: str) -> str:
        with pytest.raises(IngestError) as caught:
            fetch(f"{site.url}{path}", {}, limits, ANYWHERE)
        return str(caught.value)

    site.put("/large", b"x" * 1001)
    assert refused("/large") == "is larger than 0 MB"
    site.put("/bomb", gzip.compress(b"x" * 10**7), content_encoding="gzip")
    assert refused("/bomb") == "is larger than 0 MB"
    site.put("/packed", gzip.compress(b"words"), content_encoding="gzip")
    packed = fetch(f"{site.url}/packed", {}, limits, ANYWHERE)
    assert packed.content == b"words"
    site.put("/brotli", b"x", content_encoding="br")
    assert "comes packed by br" in refused("/brotli")
    site.put("/round", "", 302, location="/round")
    assert "redirected more than 5 times" in refused("/round")
    site.put("/short", b"x" * 10, manner="drop")
    assert refused("/short")
    assert refused("/none") == "the server answers 404"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(IngestError, match=r"took longer than 0\.5 s"):
            fetch(f"http://127.0.0.1:{port}/", {}, limits, ANYWHERE)


def drip(listening: socket.socket, sent: list[int]) -> None:
    """Answer without a length, a letter every tenth of a second for six; note each."""
    with listening.accept()[0] as connection, suppress(OSError):
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        for number in range(60):
            connection.sendall(b"x")
            sent.append(number)
            time.sleep(0.1)


def test_a_page_that_does_not_say_where_it_ends_is_cut_off_as_well() -> None:
    limits, sent = replace(WEB_LIMITS, page_seconds=0.5, connect_seconds=5), list[int]()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Thread(target=drip, args=[listening, sent])
        server.start()
        port = listening.getsockname()[1]
        with pytest.raises(IngestError, match=r"took longer than 0\.5 s"):
            fetch(f"http://127.0.0.1:{port}/", {}, limits, ANYWHERE)
        server.join()
    assert len(sent) < 60


async def test_a_walk_that_nobody_waits_for_ends(site: Site) -> None:
    for name in "ab":
        site.put(f"/{name}.html", name)
    first, left = asyncio.Event(), Event()
    loop, ended = asyncio.get_running_loop(), list[str]()

    def walk() -> None:
        try:
            for _ in Crawl(reach=ANYWHERE).pages([f"{site.url}/{name}.html" for name in "ab"]):
                loop.call_soon_threadsafe(first.set)
                left.wait()
        except UnwantedError:
            ended.append("unwanted")

    with ThreadPoolExecutor(1) as threads:
        walking = asyncio.create_task(in_thread(walk, threads=threads))
        await first.wait()
        walking.cancel()
        await asyncio.wait([walking])
        left.set()
    assert ended == ["unwanted"]
    assert "/b.html" not in site.paths


def test_robots_are_heeded(site: Site) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /no/\n", content_type="text/plain")
    site.put("/no/a.html", "secret")
    site.put("/yes.html", "open")
    pages, _ = crawled(site, "/no/a.html", "/yes.html")
    assert str(pages[0].error) == "the site's robots.txt forbids it"
    assert pages[1].fetched is not None
    assert site.paths == ["/robots.txt", "/yes.html"]
    site.put("/robots.txt", "", 503)
    pages, _ = crawled(site, "/yes.html")
    assert str(pages[0].error) == "the site's robots.txt forbids it"


def test_links_are_followed_within_the_site_so_deep_and_no_deeper(site: Site) -> None:
    site.put(
        "/", '<a href="/a">a</a> <a href="http://other.test/">o</a> <a href="mailto:x@y">m</a>'
    )
    site.put("/a", '<a href="b#part">b</a><a href="/">home</a>')
    site.put("/b", '<a href="/c">c</a>')
    site.put("/c", "<!-- no page -->")
    assert names(site, crawled(site, "/")[0]) == ["/"]
    deep = replace(WEB_LIMITS, depth=2)
    assert names(site, crawled(site, "/", limits=deep)[0]) == ["/", "/a", "/b"]
    assert names(site, crawled(site, "/c", limits=deep)[0]) == ["/c"]
    pages, crawl = crawled(site, "/", limits=replace(deep, pages=2))
    assert names(site, pages) == ["/", "/a"]
    assert crawl.left_out == {f"{site.url}/b": "beyond 2 pages"}
    _, crawl = crawled(site, "/", "/c", limits=replace(deep, total_bytes=1))
    assert set(crawl.left_out.values()) == {"beyond 0 MB"}
    _, crawl = crawled(site, "/", limits=replace(deep, total_seconds=-1))
    assert list(crawl.left_out) == [f"{site.url}/"]


def test_what_a_link_leads_to_and_is_gone_is_a_dead_link(site: Site) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /no\n", content_type="text/plain")
    site.put("/", "".join(f'<a href="/{name}">a</a>' for name in ("gone", "no", "down", "busy")))
    site.put("/down", "", 503)
    site.put("/busy", "", 429)
    pages, crawl = crawled(site, "/", "/named", limits=replace(WEB_LIMITS, depth=1))
    assert names(site, pages) == ["/", "/named", "/down", "/busy"]
    assert crawl.dead_links == {f"{site.url}/gone": "the server answers 404"}
    assert crawl.left_out == {f"{site.url}/no": "the site's robots.txt forbids it"}


def test_a_sitemap_leads_to_its_pages_alone(site: Site) -> None:
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    one = f"<urlset {space}><url><loc>{site.url}/a</loc></url><url><loc>http://o.test/</loc></url>"
    maps = f"<sitemap><loc>{site.url}/one.xml.gz</loc></sitemap>"
    site.put(
        "/sitemap.xml", f"<sitemapindex {space}>{maps}</sitemapindex>", content_type="text/xml"
    )
    packed = gzip.compress(f"{one}</urlset>".encode())
    site.put("/one.xml.gz", packed, content_type="application/gzip")
    site.put("/a", "a page")
    pages, _ = crawled(site, "/sitemap.xml")
    assert names(site, pages) == ["/a"]


@pytest.mark.parametrize(
    ("url", "media_type", "name"),
    [
        ("http://a.test/", "text/html", "a.test.html"),
        ("http://127.0.0.1:8899", "text/plain", "127.0.0.1.txt"),
        ("http://site.md/", "text/html", "site.md.html"),
        ("http://a.test/page.php?x=1", "text/html", "page.html"),
        ("http://a.test/get?id=3", "application/pdf", "get.pdf"),
        ("http://a.test/notes.md", "text/plain", "notes.md"),
        ("http://a.test/data.csv", "application/octet-stream", "data.csv"),
        ("http://a.test/..%2f..%2fetc", "text/html", "etc.html"),
    ],
)
def test_a_page_is_of_the_kind_that_its_server_says(url: str, media_type: str, name: str) -> None:
    assert file_name(url, media_type) == name


@pytest.mark.parametrize(
    ("names", "url", "allowed"),
    [
        (["example.com"], "https://example.com/a", True),
        (["example.com"], "https://notexample.com/a", False),
        ([".example.com"], "https://www.example.com/a", True),
        (["*.example.com"], "https://example.com/a", True),
        ([".example.com"], "https://notexample.com/a", False),
        ([".example.com"], "https://example.com.evil.example/a", False),
        (["::1"], "http://[::1]:80/a", True),
        (["*"], "https://any.example/a", True),
        ([], "https://example.com/a", False),
        (["example.com"], "http://example.com:443/a", True),
        (["example.com"], "http://example.com:8080/a", False),
        (["*"], "http://any.example:22/a", False),
        (["example.com:8080"], "http://example.com:8080/a", True),
        (["example.com:8080"], "http://example.com/a", False),
        ([".example.com:8080"], "http://www.example.com:8080/a", True),
        (["*:8080"], "http://any.example:8080/a", True),
        (["[::1]:8080"], "http://[0:0::1]:8080/a", True),
        (["0:0:0:0:0:0:0:1"], "http://[::1]/a", True),
        (["Example.com."], "http://example.com./a", True),
        (["bücher.example"], "https://xn--bcher-kva.example/", True),
        (["example.com:port", "example.com:", "a b"], "http://example.com/", False),
        (["2130706433"], "http://127.0.0.1/", False),
    ],
)
def test_hosts_are_those_that_are_named(names: list[str], url: str, allowed: bool) -> None:
    reach, address = Reach.of(names), normal_url(url)
    if allowed:
        reach.check(address)
    else:
        with pytest.raises(IngestError, match="is not among LEXICHORD_FETCH_HOSTS"):
            reach.check(address)


def test_a_private_host_is_asked_only_where_it_is_named_in_full(site: Site) -> None:
    site.put("/", "secret")
    place = site.url.removeprefix("http://")
    port = place.partition(":")[2]
    assert fetch(f"{site.url}/", {}, reach=Reach.of([place])).content == b"secret"
    for name in (f"*:{port}", f".0.0.1:{port}"):
        with pytest.raises(IngestError, match=rf"has to name {re.escape(place)} in full"):
            fetch(f"{site.url}/", {}, reach=Reach.of([name]))
    with pytest.raises(IngestError, match=rf"{re.escape(place)} is not among LEXICHORD_FETCH"):
        fetch(f"{site.url}/", {}, reach=Reach.of(["127.0.0.1"]))


def test_a_redirection_leads_to_named_hosts_only(site: Site) -> None:
    site.put("/there", "<p>Here.</p>")
    site.put("/away", "", 302, location="http://localhost:1/")
    site.put("/near", "", 302, location="/there")
    named = Reach.of([site.url.removeprefix("http://")])
    assert fetch(f"{site.url}/near", {}, reach=named).url == f"{site.url}/there"
    with pytest.raises(IngestError, match="localhost:1 is not among"):
        fetch(f"{site.url}/away", {}, reach=named)


def test_an_address_is_refused_without_its_password() -> None:
    with pytest.raises(ConfigError, match="is no address that can be read") as raised:
        check_url("http://me:hunt/er2@example.com/a", Reach())
    assert "er2" not in str(raised.value)


def test_a_proxy_of_the_environment_is_not_asked(
    site: Site, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would connect to where it finds the name itself."""
    network.names = {"outside.test": iter([PUBLIC])}
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://10.0.0.7:3128")
    site.put("/", "words")
    assert fetch("http://outside.test/", {}).content == b"words"
    assert network.reached == [PUBLIC]
    assert site.paths == ["/"]
