"""GraphQL servers for tests, all on one port. Prints "port N" and ends when its input closes.

/graphql            Strawberry with all its features: batches, uploads, @defer, @stream, SSE, multipart, WebSockets
/strict             the same with application/graphql-response+json and its statuses, and with persisted queries
/apq-unsupported    the same without persisted queries
/ariadne            Ariadne: error status 400 with JSON; GET, uploads, graphql-transport-ws, SSE
/ariadne-older      the same with graphql-ws over WebSockets
/single             event streams shared by operations (graphql-sse, single connection mode), with Strawberry's schema;
                    logs "reserved", "stream ended", "operation ended" and "operation deleted"
/ids                a subscription of ?to= events with ids; disconnects every few hundred, resumes after Last-Event-ID
/sse-only           Strawberry without WebSockets and multipart
/v2022, /relay      incremental responses in the older format and in Relay's: ?case=, ?as=multipart|sse|jsonl
/html, /empty       500 with a page; 200 with an empty body
/odd                responds with ?status= ?type= ?body= ?header=Name:Value in chunks of ?chunk= bytes; ?cut=1 truncates
/log                everything received, as JSON: {"requests": [...], "events": [...]}; ?test= selects one test by the
                    field X-Test of its requests; ?clear=1 deletes them
"""

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import socket
import sys
import threading
import uuid
from collections.abc import AsyncGenerator
from enum import Enum

import strawberry
import uvicorn
from ariadne import MutationType, QueryType, SubscriptionType, make_executable_schema, upload_scalar
from ariadne.asgi import GraphQL as Ariadne
from ariadne.asgi.handlers import GraphQLHTTPHandler, GraphQLTransportWSHandler, GraphQLWSHandler
from ariadne.contrib.sse import SSESubscriptionHandler
from graphql import GraphQLError, OperationType, get_operation_ast, parse, validate
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError
from strawberry.file_uploads import Upload
from strawberry.scalars import JSON
from strawberry.schema.config import StrawberryConfig

# --- Log

requests: list[dict] = []
events: list[dict] = []


def happened(context, name):
    request = context["request"]
    events.append({"event": name, "test": request.headers.get("x-test", "")})


async def log(request):
    test = request.query_params.get("test")
    chosen = [[one for one in kind if test in (None, one["test"])] for kind in (requests, events)]
    if request.query_params.get("clear"):
        for kind, gone in zip((requests, events), chosen):
            kind[:] = [one for one in kind if one not in gone]
    return JSONResponse({"requests": chosen[0], "events": chosen[1]})


class Logged:
    """Logs every request with its body and every message received over a WebSocket."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket") or scope["path"] == "/log":
            return await self.app(scope, receive, send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        note = {
            "method": scope.get("method", "WEBSOCKET"),
            "path": scope["path"],
            "query": scope["query_string"].decode("latin-1"),
            "headers": headers,
            "client": (scope.get("client") or ["", 0])[1],
            "body": "",
            "messages": [],
            "test": headers.get("x-test", ""),
        }
        requests.append(note)

        async def noted():
            message = await receive()
            if message["type"] == "http.request":
                if len(note["body"]) < 1 << 20:
                    note["body"] += message.get("body", b"").decode("utf-8", "backslashreplace")
            elif message["type"] == "websocket.receive":
                note["messages"].append(message.get("text") or "")
            return message

        await self.app(scope, noted, send)


# --- Strawberry's schema


@strawberry.enum
class Episode(Enum):
    NEWHOPE = "NEWHOPE"
    EMPIRE = "EMPIRE"
    JEDI = "JEDI"


async def failing(message="boom", code="BOOM"):
    await asyncio.sleep(0)
    raise GraphQLError(message, extensions={"code": code})


@strawberry.type
class Comment:
    id: strawberry.ID
    text: str

    @strawberry.field
    async def likes(self) -> int | None:
        """Fails for the second comment of each post."""
        return await failing("no likes", "NO_LIKES") if self.id.endswith("-2") else 7


@strawberry.type
class Author:
    name: str

    @strawberry.field
    async def bio(self) -> str:
        await asyncio.sleep(0.01)
        return f"{self.name} writes"

    @strawberry.field
    async def posts(self) -> list["Post"]:
        return [post for post in posts.values() if post.author_name == self.name]


@strawberry.type
class Post:
    id: strawberry.ID
    title: str
    body: str
    author_name: strawberry.Private[str]

    @strawberry.field
    async def author(self) -> Author:
        return Author(name=self.author_name)

    @strawberry.field
    async def slow_body(self) -> str:
        await asyncio.sleep(0.02)
        return self.body

    @strawberry.field
    async def comments(self, count: int = 3, broken_after: int | None = None) -> strawberry.Streamable[Comment]:
        for index in range(1, count + 1):
            await asyncio.sleep(0)
            yield Comment(id=strawberry.ID(f"{self.id}-{index}"), text=f"comment {index} of {self.id}")
            if index == broken_after:
                raise GraphQLError("the comments end here", extensions={"code": "BROKEN"})

    @strawberry.field
    async def secret(self) -> str | None:
        return await failing("not yours", "FORBIDDEN")

    @strawberry.field
    async def required_secret(self) -> str:
        return await failing("not yours", "FORBIDDEN")


posts = {
    str(number): Post(id=strawberry.ID(str(number)), title=title, body=body, author_name=author)
    for number, (title, body, author) in enumerate(
        [("First", "Hello, world", "Ann"), ("Ünïcode 😀", "“Täxt”\n\u2028", "Bob"), ("Third", "", "Ann")], 1
    )
}


@strawberry.type
class Hero:
    id: strawberry.ID
    name: str
    friend_names: strawberry.Private[list[str]]

    @strawberry.field
    async def friends(self) -> list["Hero"]:
        return [hero for hero in heroes if hero.name in self.friend_names]

    @strawberry.field
    async def height(self, unit: str = "m") -> float:
        await asyncio.sleep(0.01)
        return 1.72 if unit == "m" else 5.64


heroes = [
    Hero(id=strawberry.ID("1000"), name="Luke", friend_names=["Han", "Leia"]),
    Hero(id=strawberry.ID("1002"), name="Han", friend_names=["Luke", "Leia"]),
    Hero(id=strawberry.ID("2001"), name="R2-D2", friend_names=["Luke", "Han"]),
    Hero(id=strawberry.ID("1003"), name="Leia", friend_names=["Luke"]),
]


@strawberry.type
class File:
    name: str
    size: int
    sha256: str
    type: str | None


async def described(upload) -> File:
    # A file with two paths is read twice.
    await upload.seek(0)
    data = await upload.read()
    data = data if isinstance(data, bytes) else data.encode()
    return File(
        name=upload.filename, size=len(data), sha256=hashlib.sha256(data).hexdigest(), type=upload.content_type
    )


@strawberry.input
class Document:
    title: str
    file: Upload


@strawberry.input
class Folder:
    name: str
    docs: list[Document]


@strawberry.type
class Query:
    @strawberry.field
    async def post(self, id: strawberry.ID) -> Post | None:
        return posts.get(id)

    @strawberry.field
    async def posts(self, first: int | None = None) -> strawberry.Streamable[Post]:
        for post in list(posts.values())[:first]:
            yield post

    @strawberry.field
    async def ticks(self, info: strawberry.Info, to: int = 3, every: int = 1) -> strawberry.Streamable[int]:
        """Counts from 1, with this many milliseconds between numbers."""
        try:
            for number in range(1, to + 1):
                await asyncio.sleep(every / 1000)
                yield number
        finally:
            happened(info.context, "ticks ended")

    @strawberry.field
    async def hero(self, episode: Episode = Episode.JEDI) -> Hero:
        return heroes[0] if episode == Episode.EMPIRE else heroes[2]

    @strawberry.field
    async def fail(self, message: str = "boom", code: str = "BOOM") -> str | None:
        return await failing(message, code)

    @strawberry.field
    async def fail_required(self) -> str:
        return await failing()

    @strawberry.field
    async def slow(self, info: strawberry.Info, ms: int = 100) -> str:
        happened(info.context, "slow began")
        await asyncio.sleep(ms / 1000)
        return f"after {ms}"

    @strawberry.field
    async def echo(self, value: JSON | None = strawberry.UNSET) -> JSON:
        """Distinguishes absent from null."""
        return "absent" if value is strawberry.UNSET else {"value": value}

    @strawberry.field
    async def header(self, info: strawberry.Info, name: str) -> str | None:
        return info.context["request"].headers.get(name)


def created(title, body):
    return Post(id=strawberry.ID("4"), title=title, body=body, author_name="Ann")


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def create_post(self, info: strawberry.Info, title: str, body: str = "") -> Post:
        happened(info.context, "created")
        return created(title, body)

    @strawberry.mutation
    async def upload(self, file: Upload) -> File:
        return await described(file)

    @strawberry.mutation
    async def uploads(self, files: list[Upload]) -> list[File]:
        return [await described(file) for file in files]

    @strawberry.mutation
    async def upload_folder(self, input: Folder) -> list[File]:
        return [await described(doc.file) for doc in input.docs]


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def count(
        self, info: strawberry.Info, to: int = 3, every: int = 1, fail_at: int | None = None
    ) -> AsyncGenerator[int, None]:
        """Counts from 1, with this many milliseconds between numbers."""
        try:
            happened(info.context, "count began")
            for number in range(1, to + 1):
                await asyncio.sleep(every / 1000)
                if number == fail_at:
                    await failing()
                yield number
        finally:
            happened(info.context, "count ended")

    @strawberry.subscription
    async def connection(self, info: strawberry.Info) -> AsyncGenerator[JSON, None]:
        """The parameters of a WebSocket's connection_init."""
        yield info.context.get("connection_params")


schema = strawberry.Schema(
    Query,
    Mutation,
    Subscription,
    config=StrawberryConfig(
        enable_experimental_incremental_execution=True, batching_config={"max_operations": 10}
    ),
)


class Full(GraphQL):
    """Rejects the connection parameters {"reject": true}."""

    def __init__(self):
        super().__init__(
            schema,
            graphql_ide=None,
            multipart_uploads_enabled=True,
            subscription_protocols=(
                "graphql-transport-ws", "graphql-ws", "graphql-sse", "multipart-subscription"
            ),
        )

    async def on_ws_connect(self, context):
        parameters = context.get("connection_params") or {}
        if parameters.get("reject"):
            raise ConnectionRejectionError({"reason": "not you"})
        return {"server": "strawberry"}


# --- Persisted queries and statuses


class PersistedQueryError(Exception):
    def __init__(self, message, code, status=200):
        self.body = {"errors": [{"message": message, "extensions": {"code": code}}]}
        self.status = status


class Persisting(Full):
    """Persisted queries: `persisted` returns the text for a hash and an optional text."""

    async def parse_http_body(self, request):
        data = await super().parse_http_body(request)
        for one in data if isinstance(data, list) else [data]:
            hash = ((one.extensions or {}).get("persistedQuery") or {}).get("sha256Hash")
            if hash is not None:
                one.query = self.persisted(hash, one.query)
        return data

    async def run(self, request, *arguments, **options):
        try:
            return await super().run(request, *arguments, **options)
        except PersistedQueryError as error:
            return JSONResponse(error.body, error.status)


class Unsupporting(Persisting):
    def persisted(self, hash, query):
        raise PersistedQueryError("PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED")


class Strict(Persisting):
    """Follows GraphQL over HTTP if its media type is accepted. Uploads require a field that no HTML form can set."""

    texts: dict[str, str] = {}

    def persisted(self, hash, query):
        if query is None:
            query = self.texts.get(hash)
        elif hashlib.sha256(query.encode()).hexdigest() == hash:
            self.texts[hash] = query
        else:
            raise PersistedQueryError("provided sha does not match query", "INTERNAL_SERVER_ERROR", 400)
        if query is None:
            raise PersistedQueryError("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")
        return query

    async def run(self, request, *arguments, **options):
        type = request.headers.get("content-type", "")
        if type.startswith("multipart/") and "graphql-require-preflight" not in request.headers:
            return JSONResponse({"errors": [{"message": "this may be another site's form"}]}, 400)
        response = await super().run(request, *arguments, **options)
        accepted = "application/graphql-response+json" in request.headers.get("accept", "")
        if not accepted or response is None or response.headers.get("content-type") != "application/json":
            return response
        body, status = self.graded(json.loads(response.body), response.status_code)
        return Response(json.dumps(body), status, media_type="application/graphql-response+json")

    def graded(self, body, status):
        errors = body.get("errors") if isinstance(body, dict) else None
        if not errors or status != 200:
            return body, status
        if body.get("data") is not None:
            return body, 294
        if any("path" in error for error in errors):
            return body, 200
        body.pop("data", None)
        return body, 400 if errors[0]["message"].startswith("Syntax Error") else 422


# --- Ariadne

ariadne_query, ariadne_mutation, ariadne_subscription = QueryType(), MutationType(), SubscriptionType()
ariadne_types = """
    scalar Upload
    type Post { id: ID! title: String! body: String! }
    type File { name: String! size: Int! sha256: String! type: String }
    type Query { post(id: ID!): Post, posts: [Post!]!, fail: String }
    type Mutation { createPost(title: String!, body: String): Post! upload(file: Upload!): File! }
    type Subscription { count(to: Int = 3, every: Int = 1): Int! }
"""


@ariadne_query.field("post")
def ariadne_post(_, info, id):
    return posts.get(id)


@ariadne_query.field("posts")
def ariadne_posts(_, info):
    return list(posts.values())


@ariadne_query.field("fail")
async def ariadne_fail(_, info):
    return await failing()


@ariadne_mutation.field("createPost")
def ariadne_create_post(_, info, title, body=""):
    return created(title, body)


@ariadne_mutation.field("upload")
async def ariadne_upload(_, info, file):
    return await described(file)


@ariadne_subscription.source("count")
async def ariadne_counts(_, info, to, every):
    try:
        for number in range(1, to + 1):
            await asyncio.sleep(every / 1000)
            yield number
    finally:
        happened(info.context, "count ended")


@ariadne_subscription.field("count")
def ariadne_count(number, info, **arguments):
    return number


ariadne_schema = make_executable_schema(
    ariadne_types, ariadne_query, ariadne_mutation, ariadne_subscription, upload_scalar
)
ariadne = Ariadne(
    ariadne_schema,
    execute_get_queries=True,
    http_handler=GraphQLHTTPHandler(subscription_handlers=[SSESubscriptionHandler()]),
    websocket_handler=GraphQLTransportWSHandler(),
)
ariadne_older = Ariadne(ariadne_schema, websocket_handler=GraphQLWSHandler())

# --- Event streams


class Single:
    """https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md, single connection mode."""

    def __init__(self):
        self.streams = {}

    async def __call__(self, scope, receive, send):
        request = Request(scope, receive)
        answers = {"PUT": self.reserve, "GET": self.stream, "POST": self.operation, "DELETE": self.delete}
        answer = await answers[request.method](request)
        await answer(scope, receive, send)

    def known(self, request):
        return self.streams.get(request.headers.get("x-graphql-event-stream-token", ""))

    async def reserve(self, request):
        token = str(uuid.uuid4())
        self.streams[token] = {"events": asyncio.Queue(), "operations": {}, "isOpen": False}
        happened({"request": request}, "reserved")
        return Response(token, 201, media_type="text/plain")

    async def stream(self, request):
        token = request.headers.get("x-graphql-event-stream-token", "")
        stream = self.streams.get(token)
        if stream is None:
            return Response("no such stream", 404)
        if stream["isOpen"]:
            return Response("the stream is open already", 409)
        stream["isOpen"] = True

        async def body():
            try:
                yield ":\n\n"
                while True:
                    yield await stream["events"].get()
            finally:
                del self.streams[token]
                for task in stream["operations"].values():
                    task.cancel()
                happened({"request": request}, "stream ended")

        return StreamingResponse(body(), media_type="text/event-stream")

    async def operation(self, request):
        stream = self.known(request)
        if stream is None:
            return Response("no such stream", 404)
        operation = await request.json()
        id = operation.get("extensions", {}).get("operationId")
        if not isinstance(id, str) or id in stream["operations"]:
            return Response("no operation id that is free", 400)
        try:
            document = parse(operation["query"])
        except GraphQLError as error:
            return JSONResponse({"errors": [error.formatted]}, 400)
        if errors := validate(schema._schema, document):
            return JSONResponse({"errors": [error.formatted for error in errors]}, 400)
        options = {
            "variable_values": operation.get("variables"),
            "operation_name": operation.get("operationName"),
            "context_value": {"request": request},
        }
        kind = get_operation_ast(document, operation.get("operationName")).operation
        stream["operations"][id] = asyncio.create_task(
            self.run(stream, id, operation["query"], kind == OperationType.SUBSCRIPTION, options)
        )
        return Response(status_code=202)

    async def run(self, stream, id, query, is_subscription, options):
        async def tell(event, **data):
            await stream["events"].put(f"event: {event}\ndata: {json.dumps({'id': id, **data})}\n\n")

        def payload(result):
            errors = [error.formatted for error in result.errors or []]
            return {"data": result.data, **({"errors": errors} if errors else {})}

        try:
            if is_subscription:
                results = await schema.subscribe(query, **options)
                async with contextlib.aclosing(results):
                    async for result in results:
                        await tell("next", payload=payload(result))
            else:
                await tell("next", payload=payload(await schema.execute(query, **options)))
            await tell("complete")
        finally:
            stream["operations"].pop(id, None)
            happened(options["context_value"], "operation ended")

    async def delete(self, request):
        stream = self.known(request)
        if stream is None:
            return Response("no such stream", 404)
        if task := stream["operations"].get(request.query_params.get("operationId")):
            task.cancel()
            happened({"request": request}, "operation deleted")
        return Response(status_code=200)


async def ids(request):
    last = int(request.query_params.get("to", "10000"))
    first = int(request.headers.get("last-event-id", "0")) + 1
    # The number varies between connections but is the same in each test run.
    end = first + 100 + first * 7919 % 300

    async def body():
        for number in range(first, last + 1):
            event = f'id: {number}\nevent: next\ndata: {{"data":{{"count":{number}}}}}\n\n'
            if number == end:
                yield event[: first % len(event)]
                raise ConnectionError("cut off, as it has to be")
            yield event
        yield "event: complete\ndata:\n\n"

    return StreamingResponse(body(), media_type="text/event-stream")


class EventsOnly(Full):
    async def __call__(self, scope, receive, send):
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.http.response.start", "status": 405, "headers": []})
            return await send({"type": "websocket.http.response.body", "body": b"no WebSockets here"})
        if "multipart/" in dict(scope["headers"]).get(b"accept", b"").decode("latin-1"):
            return await Response("no multipart here", 406)(scope, receive, send)
        await super().__call__(scope, receive, send)


# --- Incremental responses in formats that Strawberry doesn't support

v2022 = {
    "defer": [
        {"data": {"hero": {"id": "2001", "name": "R2-D2"}}, "hasNext": True},
        {"incremental": [{"label": "height", "path": ["hero"], "data": {"height": 1.72}}], "hasNext": True},
        {
            "incremental": [
                {"label": "friends", "path": ["hero"], "data": {"friends": [{"name": "Luke"}, {"name": "Han"}]}},
                {"label": "ids", "path": ["hero", "friends", 1], "data": {"id": "1002"}, "extensions": {"cost": 2}},
            ],
            "hasNext": False,
        },
    ],
    "stream": [
        {"data": {"posts": [{"id": "1"}]}, "hasNext": True},
        {"incremental": [{"path": ["posts", 1], "items": [{"id": "2"}, {"id": "3"}]}], "hasNext": True},
        {"hasNext": False},
    ],
    "error": [
        {"data": {"post": {"id": "1"}}, "hasNext": True},
        {
            "incremental": [
                {"label": "secret", "path": ["post"], "data": None, "errors": [{"message": "not yours"}]}
            ],
            "hasNext": False,
        },
    ],
    "cut": [{"data": {"post": {"id": "1"}}, "hasNext": True}],
}

relay = {
    "defer": [
        {"data": {"hero": {"id": "2001"}}, "extensions": {"is_final": False}},
        {
            "label": "Hero$defer$Name", "path": ["hero"], "data": {"name": "R2-D2"},
            "extensions": {"is_final": False},
        },
        {"label": "Hero$defer$Height", "path": ["hero"], "data": {"height": 1.72}, "extensions": {"is_final": True}},
    ],
    "stream": [
        {"data": {"posts": [{"id": "1"}]}, "extensions": {"is_final": False}},
        {
            "label": "Posts$stream$posts", "path": ["posts", 1], "data": {"id": "2"},
            "extensions": {"is_final": False},
        },
        {"label": "Posts$stream$posts", "path": ["posts", 2], "data": {"id": "3"}, "extensions": {"is_final": True}},
    ],
    "cut": [{"data": {"post": {"id": "1"}}, "extensions": {"is_final": False}}],
}


def framed(form, texts):
    if form == "sse":
        return "text/event-stream", [f"event: next\ndata: {text}\n\n" for text in texts] + [
            "event: complete\ndata:\n\n"
        ]
    if form == "jsonl":
        return "application/jsonl", [f"{text}\n" for text in texts]
    parts = [f"--graphql\r\ncontent-type: application/json\r\n\r\n{text}\r\n" for text in texts]
    return 'multipart/mixed; boundary="graphql"; deferSpec=20220824', ["\r\n", *parts, "--graphql--\r\n"]


def in_pieces(cases):
    async def answer(request):
        case = cases[request.query_params.get("case", "defer")]
        type, frames = framed(request.query_params.get("as"), [json.dumps(one) for one in case])

        async def body():
            for frame in frames:
                yield frame
                await asyncio.sleep(0.005)

        return StreamingResponse(body(), media_type=type)

    return answer


# --- Responses that no GraphQL server sends


async def odd(request):
    wanted = request.query_params
    headers = dict(header.split(":", 1) for header in wanted.getlist("header"))
    headers["content-type"] = wanted.get("type", "application/json")
    data = wanted.get("body", "").encode()
    size = int(wanted.get("chunk", len(data) or 1))

    async def body():
        for start in range(0, len(data), size):
            yield data[start : start + size]
            await asyncio.sleep(0)
        if wanted.get("cut"):
            raise ConnectionError("cut off, as was asked")

    return StreamingResponse(body(), int(wanted.get("status", 200)), headers)


async def html(request):
    return Response("<html><body>Internal Server Error</body></html>", 500, media_type="text/html")


async def empty(request):
    return Response(status_code=200)


# --- All servers on one port

anything = ["GET", "POST", "PUT", "DELETE"]
raw = {
    "/v2022": in_pieces(v2022), "/relay": in_pieces(relay), "/ids": ids, "/html": html, "/empty": empty, "/odd": odd,
    "/log": log,
}
servers = {
    "/graphql": Full(), "/strict": Strict(), "/apq-unsupported": Unsupporting(), "/ariadne": ariadne,
    "/ariadne-older": ariadne_older, "/single": Single(), "/sse-only": EventsOnly(),
}


class Routed:
    """Routes each path without a trailing slash, which Starlette's Mount would require."""

    def __init__(self):
        self.app = Starlette(routes=[Route(path, answer, methods=anything) for path, answer in raw.items()])

    async def __call__(self, scope, receive, send):
        await servers.get(scope.get("path"), self.app)(scope, receive, send)


def end_with_input():
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    # Errors of resolvers are expected responses here.
    logging.disable(logging.CRITICAL)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    print("port", listener.getsockname()[1], flush=True)
    threading.Thread(target=end_with_input, daemon=True).start()
    # Tests close idle connections themselves.
    config = uvicorn.Config(
        Logged(Routed()), log_level="critical", lifespan="off", timeout_keep_alive=600, http="h11"
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


main()
