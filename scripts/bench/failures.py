"""How long a query takes whose language model fails, beyond the budget that it has for models.

python scripts/bench/failures.py

On the sample set, with all stages that a model does, against local servers of both wire formats.
Each way to fail has a process of its own, which also has to end.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import get_args

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.end_to_end.llm_replies import MODELS, replying
from tests.providers.chat_servers import ChatServer, Mode, Reply, chat_server, gemini_server

from common import opened
from lexichord import SyncLexichord
from lexichord.types import LlmStage

SAMPLES = Path(__file__).parents[2] / "samples"
QUERY = "In the lease for Saltpan House, who insures the building?"
BUDGET_MS = 1500.0
AIM_MS = 200.0  # beyond the budget
REPEATS = 5
PATIENCE = 60  # seconds for a process to end
COLUMNS = "| server | mode | ms | longest | beyond the budget | stages without | ends in |"


def ask(lexichord: SyncLexichord) -> tuple[float, int]:
    """Give the milliseconds of a query, and how many stages it did without the model."""
    started = perf_counter()
    response = lexichord.query(
        QUERY,
        answer=True,
        reflect=True,
        rewrite=True,
        llm_stages=get_args(LlmStage),
        budget_ms=BUDGET_MS,
    )
    assert response.answer
    return 1000 * (perf_counter() - started), len(response.degraded)


def ask_as_child(model: str, url: str) -> None:
    home = opened("samples", "plain", None).core.settings.home
    with SyncLexichord(home=home, llm=model, llm_base_url=url, llm_api_key="k") as lexichord:
        ask(lexichord)  # loads what is loaded once
        times = [ask(lexichord) for _ in range(REPEATS)]
        sys.stdout.write(json.dumps(times) + "\n")
        sys.stdout.flush()


def measure(server: ChatServer, mode: Mode) -> tuple[list[tuple[float, int]], float]:
    """Give what a process measured, and the seconds that it then took to end."""
    server.mode = mode
    command = [sys.executable, __file__, "--child", MODELS[server.gemini], server.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        times = json.loads(process.stdout.readline())
        started = perf_counter()
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert code == 0
        return times, perf_counter() - started


def report(name: str, mode: Mode, times: list[tuple[float, int]], end: float) -> bool:
    """Print a row; tell whether the aim was kept."""
    spent = [milliseconds for milliseconds, _ in times]
    beyond = max(0.0, max(spent) - BUDGET_MS)
    figures = (
        f"{median(spent):.0f} | {max(spent):.0f} | {beyond:.0f} | {times[-1][1]} | {end:.1f} s"
    )
    print(f"| {name} | {mode} | {figures} |", flush=True)
    return beyond <= AIM_MS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=2, metavar=("MODEL", "URL"), help=argparse.SUPPRESS)
    if child := parser.parse_args().child:
        ask_as_child(*child)
        return
    with opened("samples", "plain", None) as lexichord:
        lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
    print(COLUMNS + "\n|---|---|---|---|---|---|---|")
    reply: Reply = replying()
    kept = []
    for name, serve in (("chat completions", chat_server), ("Gemini", gemini_server)):
        for mode in get_args(Mode):
            with serve(reply) as server:
                kept.append(report(name, mode, *measure(server, mode)))
    if late := kept.count(False):
        sys.exit(f"{late} took more than {AIM_MS:.0f} ms beyond the budget")


if __name__ == "__main__":
    main()
