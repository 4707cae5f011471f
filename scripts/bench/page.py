"""How long after the server has an answer a person sees it on the page, in Chromium.

python scripts/bench/page.py [--rounds N] [FOLDER ...]

It ingests the folders, by default the sample corpus, into a server of its own. Each question is
typed and sent; counted is from the event that says that the answer is there, as the browser gets
it, to the first paint of the page that shows it.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from playwright.sync_api import Browser, Page, sync_playwright

from lexichord import SyncLexichord
from serving import SAMPLES, served

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
NOTE_FOUND = """
const Plain = window.EventSource;
window.EventSource = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener("found", () => sessionStorage.setItem("found", Date.now()));
  }
};
"""
PAINTED = """() => new Promise((resolve) => new PerformanceObserver((list) => {
  const [paint] = list.getEntriesByName("first-contentful-paint");
  if (paint) resolve(performance.timeOrigin + paint.startTime - sessionStorage.getItem("found"));
}).observe({ type: "paint", buffered: true }))"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    folders = arguments.folders or [SAMPLES / "agreements", SAMPLES / "policies"]
    lines = (SAMPLES / "questions.jsonl").read_text().splitlines()
    questions = [json.loads(line)["query"] for line in lines] * arguments.rounds
    with tempfile.TemporaryDirectory(prefix="lxb") as home:
        Path(home).chmod(0o755)
        with SyncLexichord(home=Path(home)) as lexichord:
            lexichord.ingest(folders)
            dsn = lexichord.core.database.dsn
            with served(dsn, home) as (port, _), opened(f"http://127.0.0.1:{port}") as page:
                show([seen_after(page, question) for question in questions])


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start this machine's Chromium."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(address: str) -> Iterator[Page]:
    """Open a page of Chromium that notes when an answer is there."""
    with chromium() as browser:
        page = browser.new_context(base_url=address).new_page()
        page.add_init_script(NOTE_FOUND)
        yield page


def seen_after(page: Page, question: str) -> float:
    """Ask as a person does; return the milliseconds from answer to paint."""
    page.goto("/")
    page.locator("#q").fill(question)
    page.locator("#q").press("Enter")
    page.wait_for_url("**/?q=*")
    page.locator("main section").first.wait_for()
    return float(page.evaluate(PAINTED))


def show(times: Sequence[float]) -> None:
    late = quantiles(times, n=20)[18]
    print(f"{len(times)} answers, seen after p50 {median(times):.0f} ms, p95 {late:.0f} ms")


if __name__ == "__main__":
    main()
