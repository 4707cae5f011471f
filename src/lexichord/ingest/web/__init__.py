"""Pages of the web as files: fetched within limits, by robots.txt, from no private address."""
