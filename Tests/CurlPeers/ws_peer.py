"""WebSocket servers of PyPI's websockets, a raw server that sends given bytes, and a proxy in front of them.

The argument is the folder of certificates. Prints a line "NAME PORT" for each server, then "ready". Ends when its input
is closed.

  plain, secure    /echo sends back what comes; /big?N sends N bytes; /fragments sends a message in pieces; /pings the same,
                   and pings between the pieces; /utf8?ID sends text whose pieces break characters, and one that is no
                   UTF-8; /wait?ID waits for the end; /flood?N sends N messages; /close?CODE closes; /ping pings and sends
                   "ponged"; /headers sends the request's; /code?ID sends what that ID was closed with
  raw, secure-raw  /ID?HEX: agrees, sends the bytes, and reads until a close frame comes or the end
  slow             /N: agrees, reads N bytes in ten seconds and more, says nothing meanwhile, and then "done"
  proxy            CONNECT only; whatever the host, port 80 leads to `plain`, 443 to `secure`, 81 to `raw` and 444 to
                   `secure-raw`
"""
import asyncio
import base64
import hashlib
import os
import socket
import ssl
import sys
import threading

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

FOLDER = sys.argv[1]
closed_with = {}


def code_of(key):
    return closed_with.setdefault(key, asyncio.get_running_loop().create_future())


async def pinging(connection, pieces):
    """Yields the pieces, and after each one sends an empty ping and the longest one and waits for their pongs."""
    for piece in pieces:
        yield piece
        await (await connection.ping(b""))
        await (await connection.ping(b"p" * 125))


async def end(connection, identity):
    """Records the code and the reason of the client's close."""
    await connection.wait_closed()
    code_of(identity).set_result(f"{connection.close_code} {connection.close_reason}".strip())


async def answer(connection):
    path, _, query = connection.request.path.partition("?")
    if path == "/echo":
        async for message in connection:
            await connection.send(message)
    elif path == "/big":
        await connection.send(bytes(index % 251 for index in range(int(query))))
    elif path == "/fragments":
        await connection.send(["one ", "two ", "", "three"])
    elif path == "/pings":
        await connection.send(pinging(connection, ["one ", "two ", "", "three"]))
    elif path == "/utf8":
        try:
            await connection.send([b"gr\xc3", b"\xb6\xc3", b"\x9fer"], text=True)
            await connection.send([b"a\xc3", b"("], text=True)
        except ConnectionClosed:
            pass
        await end(connection, query)
    elif path == "/wait":
        await end(connection, query)
    elif path == "/flood":
        for index in range(int(query)):
            await connection.send(str(index))
    elif path == "/close":
        await connection.close(int(query), "as asked")
    elif path == "/ping":
        await (await connection.ping(b"payload"))
        await connection.send("ponged")
    elif path == "/headers":
        lines = (f"{name}: {value}" for name, value in connection.request.headers.raw_items())
        await connection.send("\n".join(lines))
    elif path == "/code":
        await connection.send(str(await code_of(query)))


async def agree(reader, writer, and_send=lambda target: b""):
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    target = head.split(" ")[1][1:]
    key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
    digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    accept = base64.b64encode(digest).decode()
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        + and_send(target)
    )
    return target


async def answer_slowly(reader, writer):
    try:
        rest = int(await agree(reader, writer))
        for _ in range(32):
            await asyncio.sleep(0.32)
            await reader.readexactly(rest // 32)
        writer.write(b"\x81\x04done")
        while await reader.read(65536):
            pass
    except (OSError, EOFError):
        pass
    finally:
        writer.close()


async def serve_slowly(listener):
    server = await asyncio.start_server(answer_slowly, sock=listener)
    await server.serve_forever()


async def answer_raw(reader, writer):
    try:
        target = await agree(reader, writer, lambda target: bytes.fromhex(target.partition("?")[2]))
        identity = target.partition("?")[0]
        while True:
            first, second = await reader.readexactly(2)
            size = {126: 2, 127: 8}.get(second & 127, 0)
            length = int.from_bytes(await reader.readexactly(size)) if size else second & 127
            mask = await reader.readexactly(4)
            payload = bytes(byte ^ mask[index & 3] for index, byte in enumerate(await reader.readexactly(length)))
            if first & 15 == 8:
                code_of(identity).set_result(int.from_bytes(payload[:2]) if payload else 1005)
                break
    except (OSError, EOFError):
        pass
    finally:
        writer.close()


async def pump(reader, writer):
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def connect(reader, writer, ports):
    try:
        line = (await reader.readuntil(b"\r\n\r\n")).decode().split(" ")
        if line[0] != "CONNECT":
            writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            return
        port = ports[line[1].rpartition(":")[2]]
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
    except (OSError, EOFError):
        pass
    finally:
        writer.close()


async def main():
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(f"{FOLDER}/good.pem", f"{FOLDER}/good.key.pem")
    secure.set_alpn_protocols(["http/1.1"])
    names = ["chat", "superchat"]
    rules = {"max_size": None, "select_subprotocol": lambda _, asked: next((name for name in asked if name in names), None)}
    # A small buffer, so that unread bytes stay with the sender.
    small = socket.create_server(("127.0.0.1", 0))
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
    servers = {
        "plain": await serve(answer, "127.0.0.1", 0, **rules),
        "secure": await serve(answer, "127.0.0.1", 0, ssl=secure, **rules),
        "raw": await asyncio.start_server(answer_raw, "127.0.0.1", 0),
        "secure-raw": await asyncio.start_server(answer_raw, "127.0.0.1", 0, ssl=secure),
    }
    # In its own thread, so that it doesn't slow down the other servers.
    threading.Thread(target=lambda: asyncio.run(serve_slowly(small)), daemon=True).start()
    ports = {name: next(iter(server.sockets)).getsockname()[1] for name, server in servers.items()}
    ports["slow"] = small.getsockname()[1]
    leads = {"80": ports["plain"], "443": ports["secure"], "81": ports["raw"], "444": ports["secure-raw"]}
    proxy = await asyncio.start_server(lambda reader, writer: connect(reader, writer, leads), "127.0.0.1", 0)
    ports["proxy"] = proxy.sockets[0].getsockname()[1]
    for name, port in ports.items():
        print(name, port)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)


asyncio.run(main())
