"""The confidence below which nothing is answered: by default, or by a risk that is chosen.

The default, `confidence.MIN_CONFIDENCE`, stands beside the coefficients that it was fitted with.

A border by risk is a conformal one: over calibration scores of questions that the confidence was
not fitted on, by kind of document, the share of what is answered without evidence stays below the
risk (Bates et al., "Distribution-free, risk-controlling prediction sets", 2021).
"""

from collections.abc import Iterable
from math import inf

from lexichord.retrieve.judge.confidence import MIN_CONFIDENCE
from lexichord.retrieve.judge.judged import Judged
from lexichord.retrieve.query import QueryContext
from lexichord.retrieve.search.chunks import SearchPlan

NO_RISK_KNOWN = (
    "risk is not heeded: it is known only of what the reader judged, or by meaning, of the default "
    "model or after lexichord calibrate, and where no document is named"
)


def border_of(context: QueryContext, plan: SearchPlan, judged: Judged) -> float:
    """Return the least confidence to answer at; a risk that is not known is not heeded, and said.

    By words alone no border kept a risk on kinds of documents that it was not fitted on, and by a
    sample of what is stored it is not known what is refused wrongly.
    """
    risk = context.options.risk
    if risk is None:
        return MIN_CONFIDENCE
    if judged.by is not None and judged.by.holds and not plan.intent.documents:
        return find_border(judged.by.holds, judged.by.lacks, risk)
    context.trace.degrade(NO_RISK_KNOWN)
    return MIN_CONFIDENCE


def find_border(holds: Iterable[float], lacks: Iterable[float], risk: float) -> float:
    """Return the lowest score from which on at most the share `risk` lacks an answer.

    `holds` are the scores of questions whose evidence holds one, `lacks` those of others; one more
    of these is counted, as the question to come may be one. Infinity where there is none.
    """
    border, wrong = inf, 0
    judged = sorted([*((one, 0) for one in holds), *((one, 1) for one in lacks)], reverse=True)
    below = [*(score for score, _ in judged[1:]), -inf]
    for number, ((score, lacking), after) in enumerate(zip(judged, below, strict=False), start=1):
        wrong += lacking
        if score != after and (wrong + 1) / (number + 1) <= risk:
            border = score
    return border
