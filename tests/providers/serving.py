"""A server on this machine that answers with prepared streams, piece by piece."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .speaking import Spoken

__all__ = ["Server", "serving"]


class _Handler(BaseHTTPRequestHandler):
    """Answers each request with the next of the server's bodies, piece by piece."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer; a body that is to break off is one whose last chunk never comes."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append((self.path, json.loads(body)))
        self.server.headers.append(dict(self.headers))
        if self.server.key is not None and self.server.key not in self._sent_keys():
            self._refuse()
            return
        pieces = self.server.bodies.pop(0)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            if piece is None:
                self.wfile.flush()
                self.close_connection = True
                return
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _sent_keys(self) -> tuple[str, str]:
        return self.headers.get("authorization", "").removeprefix("Bearer "), self.headers.get("x-api-key", "")

    def _refuse(self) -> None:
        body = b'{"type": "error", "error": {"type": "authentication_error", "message": "Who are you?"}}'
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, bodies: Sequence[Sequence[bytes | None]], key: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.key = key
        self.bodies = [list(body) for body in bodies]
        self.requests: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    def base(self, spoken: Spoken) -> str:
        """The address that an SDK is given."""
        return f"http://127.0.0.1:{self.server_port}" + ("" if spoken.sdk == "anthropic" else "/v1")


@contextmanager
def serving(*bodies: Sequence[bytes | None], key: str | None = None) -> Iterator[Server]:
    """Serve prepared bodies, if need be only to those who send a key."""
    with Server(bodies, key) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
