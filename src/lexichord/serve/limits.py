"""The limits and timeouts of the servers: how much they take, how many, how often, how long.

Those of a search's options stand with the options themselves: `types.query_options`. What who runs
a server may choose are settings: `Settings.max_body`, `max_json`, `max_requests` and so on.
"""

from collections import defaultdict, deque
from math import ceil
from time import monotonic
from typing import Any

from lexichord.errors import TooManyRequestsError
from lexichord.types import QueryOptions
from lexichord.types.query_options import Options, describe

# Characters of a question. A model that embeds reads some 1,000 of them, a long passage to compare
# has a few thousand, and the keyword search takes a word more for each.
MAX_QUERY_CHARS = 10_000
MAX_URL_QUERY_CHARS = 4_000  # a character has up to 12 bytes there
MAX_PAGE_QUERY_CHARS = 2_000  # with 8 KB, proxies begin to refuse an address

# Bodies and parameters.
MAX_ASKING_BYTES = 500_000  # of a body that asks: of JSON that stores, settings.max_json
FIRST_BODY_BYTES = 2**16  # of a body, read before its request takes a place among those answered
# Of an answer at once: one that nobody reads keeps its place till its time is up.
SENT_BYTES = 2**18
# In which a request's head comes, then the first bytes of its body, then each further piece.
ARRIVAL_SECONDS = 10.0
# On which no request is being answered; a process may have 1,024 files open where nothing is set.
MAX_WAITING_CONNECTIONS = 500
MAX_HEAD_BYTES = 2**20  # what is longer gets no JSON error; uvicorn's own 64 KiB are soon reached
MAX_NAME_CHARS = 1_000  # of a dataset, a uri, a path
MAX_ADDED_DOCUMENTS = 1_000  # in one body
MAX_JSON_DEPTH = 32  # objects and lists inside each other
MAX_PAGE_HITS = 100  # that the page shows
MAX_PART_CHARS = 100_000  # of a document's text on one page
MAX_SHOWN_PAGES = 20  # of a PDF at once; without scripts a browser wants all their pictures
MAX_MARKED_PLACES = 100  # of each kind that an address names: each one's own address names all
MAX_BOXED_PLACES = 4  # on them, beside the opened quote: each takes a look at the file, two at once
MAX_LISTED_DOCUMENTS = 500  # on the start page; more take too long to read
# Facets beside what was found: counting takes some 70 µs a document and facet, so that those of
# more documents are counted only when they are asked for.
MAX_FACETED_DOCUMENTS = 500
SHOWN_FACET_VALUES, MAX_FACET_VALUES = 6, 50
MAX_SUGGESTIONS, MAX_SUGGESTED_TITLES = 10, 4  # while a question is typed
MIN_COMPLETED_CHARS = 3  # of a word: fewer begin too many
# Questions of the start page, found in the background: each candidate is a whole query.
SHOWN_EXAMPLES, MAX_EXAMPLE_CANDIDATES, MAX_EXAMPLES_OF_DOCUMENT = 4, 16, 2
EXAMPLE_DOCUMENTS = 24  # that candidates are made of, each read whole
MAX_KEPT_EXAMPLES = 64  # callers of different rights for whom they are kept
MAX_PINNED_DOCUMENTS = 50  # that a search of the page is narrowed to
MANAGED_DOCUMENTS = 50  # on a page of a dataset's
MAX_SHOWN_FILES = 200  # of an ingest, on its page
# Of what was found while its stages were shown, until the browser loads the page of it.
FOUND_SECONDS = 10.0
MAX_FOUND = 16
MAX_SHOWN_EVALUATIONS = 20  # the latest; each is a count over all its questions
MAX_SHOWN_QUESTIONS = 100  # of an evaluation, on its page
MAX_UPLOAD_METADATA_CHARS = 100_000  # characters of the metadata that come with files
MAX_UPLOAD_NAME_CHARS = 1_000
MAX_UPLOAD_FILES = 1_000  # in one form
UPLOAD_MEMORY_BYTES = 64 * 1024  # of a file that is sent; the rest waits on the disk
MAX_FETCHED_ADDRESSES = 20  # in one form
MAX_UPLOAD_PART_BYTES = 200  # the last part of a file's name

# Of the interfaces of others.
DIFY_MAX_RECORDS = 100
MAX_VECTOR_STORE_RESULTS = 50  # by OpenAI's specification
MAX_VECTOR_STORE_QUERIES = 10  # in one request; each is a whole search
MAX_STORE_METADATA = 16  # by OpenAI's specification, as are the next two
MAX_BATCH_FILES = 500  # in one request
MAX_LISTED_FILES = 10_000
MAX_EMBEDDED_TEXTS = 2_048
POLL_AFTER_MS = 200  # in which a small file is stored
MAX_FILTER_DEPTH = 8  # compound filters in one another
MAX_FILTER_VALUES = 100  # conditions, names or values in a list
MAX_NAMED_DOCUMENTS = 500  # to which a folder or a name is resolved: each is looked up by itself
MAX_LISTED_NAMES = 1_000  # in one list of file_lister
MAX_COUNTED_NAMES = 20  # beside the numbers of file_count
MAX_FETCHED_CHARS = 200_000  # of a text that ChatGPT fetches: some 50,000 tokens
MAX_RESOURCE_LINKS = 10  # sources of a tool's result that are also given as links

# Requests.
RETRY_AFTER_SECONDS = 1  # after 429; a search takes some 30 ms
MAX_RUNNING_JOBS = 3  # each reads files in processes of its own
MAX_JOBS_OF_KEY = 2  # of these, so that files that take hours to read leave others a place
JOB_SLOT_SECONDS = 10  # that one more job waits for one of them to end
# Who watches a job holds one of the requests that are answered at once, so that few do so at the
# same time, each for so long; browsers ask again by themselves.
MAX_WATCHED_JOBS = 4
WATCH_SECONDS = 10.0
WATCH_POLL_SECONDS = 0.3  # between two looks at a job's record
RATE_WINDOW_SECONDS = 60  # in which the requests of a key are counted
# Calls of keys go on record so long after they ended, tried again at most so long after a failure;
# 10,000 are the calls of some minutes.
RECORD_SECONDS, MAX_RECORD_RETRY_SECONDS, MAX_PENDING_CALLS = 5, 60, 10_000
READINESS_SECONDS = 5  # for the database to answer a probe; who asks, asks again
METRICS_DATABASE_SECONDS = 1  # for the database to count
# Before the server's deadline, after which no page or stream could say any more that it is over:
# the SQL is cancelled meanwhile. Of a short deadline a quarter.
DEADLINE_MARGIN_SECONDS = 1.0
TOOL_SECONDS = 45.0  # of an MCP tool by default: many clients stop at 60
TOOL_PROGRESS_SECONDS = 3.0  # between two notes of progress
# Of a tool's time, what is kept for a partial result: two searches by words took 10 ms.
PARTIAL_RESULT_SHARE, MAX_PARTIAL_RESULT_SECONDS = 0.2, 3.0
MODEL_TIME_SHARE = 0.8  # of a tool's time, for models, rerankers and rounds; loading one takes 1 s

# Connections.
LISTEN_BACKLOG = 2048  # connections that wait for the server to take them, as uvicorn has it
# An idle connection is kept longer than clients (5 s for httpx) and proxies (60 s) keep theirs, or
# now and then a request is sent into one that is being closed, and lost.
KEEP_ALIVE_SECONDS = 75
SHUTDOWN_SECONDS = 10  # for requests that are under way when the server is told to stop
JOBS_SHUTDOWN_SECONDS = 30  # for jobs that go on then
RESTART_SECONDS = 1  # before another process takes the place of one that ended by itself


def own_deadline(seconds: float) -> float:
    """Return the seconds that an answer may take which says itself that its time is up."""
    return seconds - min(DEADLINE_MARGIN_SECONDS, seconds / 4)


def served_bounds(option: str, model: type[Options] = QueryOptions) -> dict[str, Any]:
    """Return the bounds of an option over a network, as pydantic's `Field` takes them."""
    return describe(model)[option].option.bounds(served=True)


class RequestRates:
    """When each key was used in the last minute; every process counts its own requests."""

    def __init__(self) -> None:
        self._times = defaultdict[int, deque[float]](deque)

    def count(self, key_id: int, most: int) -> None:
        """Count a request of a key that may send so many a minute. Raises TooManyRequestsError."""
        now, times = monotonic(), self._times[key_id]
        while times and times[0] <= now - RATE_WINDOW_SECONDS:
            times.popleft()
        if len(times) >= most:
            seconds = ceil(times[len(times) - most] + RATE_WINDOW_SECONDS - now)
            raise TooManyRequestsError(
                f"this key may send {most:,} requests a minute: try again in {seconds} s", seconds
            )
        times.append(now)
