"""Real HTTP servers on loopback, well behaved and not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *_arguments: object) -> None:
        pass


Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """Give the address of a server on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def serving_folder(folder: Path) -> contextmanager[str]:
    return serving(partial(Quiet, directory=str(folder)))


@contextmanager
def serving_answers(*answers: Answer) -> Iterator[tuple[str, list[str]]]:
    """Answer request i with answers[i], the last one ever after; also give the asked paths."""
    asked: list[str] = []

    class Handler(Quiet):
        def do_GET(self) -> None:
            asked.append(self.path)
            answers[min(len(asked), len(answers)) - 1](self)

    with serving(Handler) as address:
        yield address, asked


def content(body: bytes, *, announced: int | None = -1, status: int = 200) -> Answer:
    """Send `body`; announce another size, or none, if told so, and close the connection."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        if announced is not None:
            handler.send_header("Content-Length", str(len(body) if announced < 0 else announced))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def closed_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
