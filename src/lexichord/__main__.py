"""`python -m lexichord`."""

from lexichord.cli import main

main()
