"""The server of the studio: on this machine only, for whoever has the token of its address.

Every request names the token in its path, comes to the name under which the server is reached (no other name that leads
to this machine does: DNS rebinding) and from no other page than its own. Pages may load nothing from elsewhere.
"""

from __future__ import annotations

import json
import re
import secrets
import socket
import traceback
import webbrowser
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from crosswind import optional
from crosswind.errors import BlockedError, CrosswindError, InputError
from crosswind.studio import exports, questions
from crosswind.studio.answer import Studio, SupersededError

HOST = "127.0.0.1"
PAGE = Path(__file__).parent / "page"
UPLOT = Path(__file__).parent.parent / "report/templates/uplot"
#: Bytes of a question: a text, changes, or the charts of an export.
BODY_MAX = 8_000_000
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_LINE = re.compile(r":(\d+)$")
Message = dict[str, Any]
Handler = Callable[[Any], Awaitable[Any]]


def problem(e: Exception) -> dict[str, Any]:
    """What went wrong, for the page: a message, the line of the text and the path where they are known."""
    if isinstance(e, InputError):
        line = _LINE.search(e.where)
        said = ", ".join(p for p in (e.found and f"found {e.found}", e.expected and f"expected {e.expected}") if p)
        message = "; ".join(p for p in (said, e.hint) if p) or str(e)
        return {"error": message, "path": e.path, "line": int(line.group(1)) if line else None}
    return {"error": str(e), "path": "", "line": None, "superseded": isinstance(e, SupersededError)}


class Guard:
    """Lets through what comes from this page: the token, the host and the origin must be right."""

    def __init__(self, app: Any, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if why := self._refused(scope):
            body = f"crosswind studio: {why}\n".encode()
            head = [(b"content-type", b"text/plain; charset=utf-8"), *_encoded(HEADERS)]
            await send({"type": "http.response.start", "status": 403, "headers": head})
            await send({"type": "http.response.body", "body": body})
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_encoded(HEADERS)]
            await send(message)

        await self.app(scope, receive, sent)

    def _refused(self, scope: Message) -> str:
        heads = [(k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in scope["headers"]]
        of = dict(heads)
        if of.get("host", "") not in self.hosts or sum(k == "host" for k, _ in heads) != 1:
            return "this is not my name"
        origin = of.get("origin")
        if origin is not None and origin not in {f"http://{h}" for h in self.hosts}:
            return "another page has no business here"
        if of.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "another page has no business here"
        given = scope["path"].split("/")[1] if scope["path"].count("/") >= 2 else ""
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return "the address lacks its token; it stands where the studio was started"
        return ""


def _encoded(heads: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(k.lower().encode(), v.encode()) for k, v in heads.items()]


def application(studio: Studio, token: str, port: int, start: dict[str, Any]) -> Any:
    """The ASGI application. `start`: what the page begins with (text, file). Raises MissingExtraError."""
    optional.load("starlette", "the studio")
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount, Route

    def answered(work: Callable[[Any], Any]) -> Handler:
        async def handle(request: Any) -> Any:
            try:
                told = await _body(request)
                return JSONResponse(await run_in_threadpool(work, told))
            except CrosswindError as e:
                return JSONResponse(problem(e))  # a scenario that is wrong is no fault of the request
            except Exception as e:
                traceback.print_exc()
                return JSONResponse({"error": f"a fault of Crosswind: {type(e).__name__}: {e}"})

        return handle

    def files(folder: Path) -> Handler:
        async def handle(request: Any) -> Any:
            name = request.path_params.get("name") or "index.html"
            path = folder / name
            if Path(name).name != name or path.suffix not in KINDS or not path.is_file():
                return Response("no such file\n", status_code=404)
            return Response(path.read_bytes(), media_type=KINDS[path.suffix])

        return handle

    async def table(request: Any) -> Any:
        of = request.path_params
        try:
            runs = studio.runs(of["key"])
            data = await run_in_threadpool(exports.table, runs, of["table"], of["kind"])
        except CrosswindError as e:
            return Response(f"{e}\n", status_code=404)
        named = {"Content-Disposition": f'attachment; filename="{of["table"]}.{of["kind"]}"'}
        return Response(data, media_type=exports.MEDIA[of["kind"]], headers=named)

    async def figure(request: Any) -> Any:
        try:
            told = await _body(request)
            kind = str(told.get("kind", ""))
            data = await run_in_threadpool(exports.figure, told.get("panels"), kind, str(told.get("command", "")))
        except CrosswindError as e:
            return JSONResponse(problem(e))  # a scenario that is wrong is no fault of the request
        return Response(data, media_type=exports.MEDIA[kind])

    asked = questions.LIVE if start.get("live") else questions.QUESTIONS
    routes = [
        Route("/", files(PAGE)),
        Route("/page/{name}", files(PAGE)),
        Route("/uplot/{name}", files(UPLOT)),
        Route("/api/start", answered(lambda _told: start), methods=["POST"]),
        *(Route(f"/api/{n}", answered(q(studio)), methods=["POST"]) for n, q in asked.items()),
        Route("/api/figure", figure, methods=["POST"]),
        Route("/export/{key}/{table}.{kind}", table),
    ]
    return Guard(Starlette(routes=[Mount(f"/{token}", routes=routes)]), token, port)


async def _body(request: Any) -> Any:
    """The JSON of a question. Raises InputError for too much, or for something else."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InputError("studio", found="something else", expected="JSON")
    got = bytearray()
    async for part in request.stream():
        got += part
        if len(got) > BODY_MAX:
            raise InputError("studio", found=f"more than {BODY_MAX:,} bytes", expected="a shorter text")
    try:
        told = json.loads(bytes(got) or b"{}")
    except (ValueError, RecursionError):
        raise InputError("studio", found="bytes that are no JSON", expected="JSON") from None
    if not isinstance(told, dict):
        raise InputError("studio", found="JSON of another shape", expected="an object")
    return told


def listening(port: int) -> socket.socket:
    """A socket on the loopback address. Raises BlockedError when the port is taken."""
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HOST, port))
    except OSError as e:
        door.close()
        raise BlockedError(f"port {port} of {HOST} cannot be had: {e.strerror}; --port 0 takes a free one") from None
    return door


def serve(start: dict[str, Any], studio: Studio, *, port: int, browser: str, fragment: str = "") -> None:
    """Answers until Ctrl-C. `browser`: "open" or "leave". Raises MissingExtraError without starlette and uvicorn."""
    uvicorn = optional.load("uvicorn", "the studio")
    door = listening(port)
    token = secrets.token_urlsafe(24)
    real = door.getsockname()[1]
    app = application(studio, token, real, start)
    address = f"http://{HOST}:{real}/{token}/{fragment}"
    print(f"crosswind studio: {address}\nCtrl-C ends it.", flush=True)
    if browser == "open":
        webbrowser.open(address)
    config = uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", server_header=False, timeout_graceful_shutdown=1
    )
    try:
        uvicorn.Server(config).run(sockets=[door])
    except KeyboardInterrupt:
        return
    finally:
        studio.stop()
        door.close()
