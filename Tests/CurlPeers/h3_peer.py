"""HTTP/3 servers for localhost, and HTTPS servers that announce one of them as their alternative. Requires aioquic.

The argument is the folder of the tests' certificates. Prints a line "NAME PORT" for each server, then "ready". Ends
when its input is closed. `Server.answer` defines the paths.
"""
import asyncio
import os
import socket
import ssl
import sys
import threading

from aioquic.asyncio import serve
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, ErrorCode, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, StreamReset

FOLDER = sys.argv[1]
PIECE = 1 << 16

tasks = set()
# The number of requests for each target.
seen = {}
ports = {}
servers = {}


class Server(QuicConnectionProtocol):
    connections = 0

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        Server.connections += 1
        self.number = Server.connections
        self.h3 = None
        self.requests = {}
        self.gone = set()

    def quic_event_received(self, event):
        if isinstance(event, StreamReset):
            self.gone.add(event.stream_id)
        if isinstance(event, ConnectionTerminated):
            return
        if self.h3 is None:
            self.h3 = H3Connection(self._quic)
        for part in self.h3.handle_event(event):
            if isinstance(part, HeadersReceived):
                self.requests.setdefault(part.stream_id, (dict(part.headers), bytearray()))
            elif isinstance(part, DataReceived):
                self.requests[part.stream_id][1].extend(part.data)
            if part.stream_ended:
                task = asyncio.ensure_future(self.answer(part.stream_id, *self.requests.pop(part.stream_id)))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

    def head(self, stream, fields=(), status=200, end=False):
        number = (b"x-connection", b"%d" % self.number)
        self.h3.send_headers(stream, [(b":status", b"%d" % status), number, *fields], end)

    async def send(self, stream, body):
        """Sends a body and keeps the send buffer small."""
        for begin in range(0, max(1, len(body)), PIECE):
            if stream in self.gone:
                return
            piece = body[begin : begin + PIECE]
            self.h3.send_data(stream, piece, begin + PIECE >= len(body))
            self.transmit()
            while (state := self._quic._streams.get(stream)) and len(state.sender._buffer) > 8 * PIECE:
                if stream in self.gone:
                    return
                await asyncio.sleep(0.001)

    async def answer(self, stream, head, body):
        target = head[b":path"].decode()
        path, _, query = target.partition("?")
        seen[target] = seen.get(target, 0) + 1
        # The first request with this query.
        isFirst = seen[target] == 1
        if path == "/close" and isFirst:
            self._quic.close(ErrorCode.H3_NO_ERROR)
        elif path == "/reject" and isFirst:
            self._quic.reset_stream(stream, ErrorCode.H3_REQUEST_REJECTED)
        elif path == "/silent":
            pass
        elif path == "/large":
            self.head(stream, [(b"content-length", query.encode())])
            await self.send(stream, bytes(int(query)))
        elif path == "/endless":
            self.head(stream)
            while stream not in self.gone and not self._quic._close_event:
                await self.send_some(stream)
        elif path == "/trailer":
            self.head(stream)
            self.h3.send_data(stream, b"body", False)
            self.h3.send_headers(stream, [(b"x-end", b"yes")], True)
        else:
            if path == "/early":
                self.head(stream, [(b"link", b"</s.css>; rel=preload")], 103)
            if path == "/count":
                body = b"%d" % seen.get(query, 0)
            elif path != "/echo":
                body = b"%s %s alt-used=%s" % (head[b":method"], target.encode(), head.get(b"alt-used", b""))
            self.head(stream, [(b"content-length", b"%d" % len(body))])
            await self.send(stream, b"" if head[b":method"] == b"HEAD" else bytes(body))
        self.transmit()

    async def send_some(self, stream):
        self.h3.send_data(stream, bytes(1 << 10), False)
        self.transmit()
        await asyncio.sleep(0.01)


async def quic(name):
    """Starts an HTTP/3 server."""
    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, is_client=False)
    configuration.load_cert_chain(f"{FOLDER}/good.pem", f"{FOLDER}/good.key.pem")
    server = servers[name] = await serve("127.0.0.1", 0, configuration=configuration, create_protocol=Server)
    ports[name] = server._transport.get_extra_info("sockname")[1]


async def origin(name, alternative=None):
    """Starts an HTTP/1.1 server over TLS. /announce announces the alternative, and /gone silently stops it."""

    async def answer(reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                target = head.split(b" ")[1]
                body = b"origin %s" % target
                field = b""
                if target == b"/announce":
                    field = b'Alt-Svc: h3=":%d"; ma=60\r\n' % ports[alternative]
                if target == b"/gone":
                    servers[alternative]._transport.close()
                    await asyncio.sleep(0.01)
                writer.write(b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (field, len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{FOLDER}/good.pem", f"{FOLDER}/good.key.pem")
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    ports[name] = server.sockets[0].getsockname()[1]


async def main():
    await quic("h3")
    await origin("origin", "h3")
    silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    silent.bind(("127.0.0.1", 0))
    ports["silent"] = silent.getsockname()[1]
    for name, port in ports.items():
        print(name, port)
    print("ready", flush=True)
    await asyncio.Event().wait()


def end_with_input():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
asyncio.run(main())
