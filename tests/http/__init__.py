"""The HTTP server, asked over real sockets."""  # noqa: A005 - nobody imports it as http
