"""Documents of other people, to ask beside: they speak of rent, delivery and notice, too.

Each is made of a kind's paragraphs, with names, sums and dates of its own; always the same.
"""

import random
from collections.abc import Iterator
from pathlib import Path

SEED = 7
TOWNS, FIRST, SECOND, MONTHS = (
    names.split()
    for names in (
        "Ashby Corran Delmont Esker Fenwick Garrick Holme Inver Jarrow Kelso Lorne Menlo",
        "Amber Birch Cedar Drift Elm Falcon Granite Heron Iron Juniper Kite Larch Maple",
        "Analytics Bakery Cruises Dental Energy Foods Gardens Hotels Imaging Joinery",
        "January March April June July September October November",
    )
)

KINDS = {
    "Annual Report {year}: {name}": """
{name} closed {year} with sales of EUR {sum} million, {n} % above the year before.

## Property

As of 31 December {year}, our leases have remaining terms of {n} to {m} months. Rent expense was
EUR {k} million; the rent of two sites in {town} rose by {k} %. A lease of a depot in {town} was
amended on {day} {month} {year}, and its expiration date moved by {m} months.

## Risks

Freight from {town} came late {n} times, which stopped a line for a day. Carriers are paid twice a
month, and sub-processors of our payroll provider are reviewed every {k} years.
""",
    "Minutes of the Board of {name}, {day} {month} {year}": """
Present: the directors of {name}. Excused: nobody.

1. The minutes of the meeting in {town} were approved.

2. Rent. The manager reported on the rent review of the shop in {town}. The board asked for two
offers before {day} {month}.

3. Deliveries. {n} of {m} deliveries in {month} were late. The board wants a report on who is to
blame; nothing was decided about the costs.

4. The next meeting starts at {k} o'clock on {m} {month}.
""",
    "{name}: Employee Handbook": """
Welcome to {name} in {town}.

## Time off

Everybody has {n} days of leave a year. A request is due {k} weeks before the leave starts.

## Travel

You may rent a car in class B if the train takes more than {k} hours. Receipts are due within {n}
days. Lost parcels and late deliveries are reported to the post room.

## Leaving

Your notice period is {k} months. Return your laptop on your last day. Customer
records stay with us.
""",
    "{name} Privacy Policy": """
{name} respects your privacy. This policy was last changed on {day} {month} {year}.

We collect your name, address and payment data. Server logs are kept for {n} days, invoices for {k}
years. We share data with sub-processors that host our services in {town}; a list is on our site.

You may terminate your account at any time. Support chats are read by our staff in {town}.
""",
    "{name} M{n}: Operating Manual": """
Read this manual before you start the {name} M{n}.

## Starting

1. Fill the tank to the line. 2. Press the start key for {k} seconds. 3. Wait for the lamp.

## Care

Clean the filter every {n} hours. Service is due after {m} hours. The guarantee starts on the
date of delivery and lasts {k} years; damage in delivery is reported to the carrier within {n} days.
""",
    "Consulting Contract {name} and {other}": """
{name} of {town} advises {other} from {day} {month} {year}.

1. The fee is EUR {sum} a day. It is due within {n} days of the invoice.

2. Either side may end this contract on {k} weeks' notice, without a reason.

3. Reports are due on the last day of {month}. A late report reduces the fee by {k} %.

4. The courts of {town} decide disputes about this contract.
""",
    "{name}: Terms of Hire": """
{name} hires out tools and trailers in {town}.

1. Hire starts when the tool leaves our yard, and ends when it is back. The charge for {n} days is
EUR {sum}; a deposit of EUR {m} is paid in advance.

2. A tool that comes back late costs EUR {k} an hour.

3. We insure the tools against theft. Our landlord's building may not be entered without a helmet.
""",
    "{name}: Maintenance Support Agreement": """
{name} maintains the lifts of {other} in {town}.

1. Support starts on {day} {month} {year} and is renewed unless ended on {k} months' notice.

2. The yearly price is EUR {sum}. It is payable in advance.

3. The laws of {town} County govern this agreement.

4. Spare parts are delivered within {n} days.
""",
}


def write_others(folder: Path, count: int) -> None:
    """Write so many documents, of the kinds in turn."""
    for number, text in enumerate(other_documents(count)):
        (folder / f"{number:03}.md").write_text(text)


def other_documents(count: int) -> Iterator[str]:
    """Yield so many Markdown texts, of the kinds in turn."""
    chance = random.Random(SEED)
    kinds = list(KINDS.items())
    for number in range(count):
        title, text = kinds[number % len(kinds)]
        values = {
            "name": f"{chance.choice(FIRST)} {chance.choice(SECOND)}",
            "other": f"{chance.choice(FIRST)} {chance.choice(SECOND)}",
            "town": chance.choice(TOWNS),
            "month": chance.choice(MONTHS),
            "year": chance.randint(2004, 2023),
            "day": chance.randint(1, 28),
            "sum": chance.randint(20, 900),
            "n": chance.randint(3, 40),
            "m": chance.randint(41, 90),
            "k": chance.randint(2, 9),
        }
        yield f"# {title.format(**values)}\n{text.format(**values)}"
