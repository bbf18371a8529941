"""HTTP/2 servers over plain TCP (prior knowledge) that are wrong in one way each.

Prints "NAME PORT" a line for each server, then "ready". Ends with its input. Each waits for the client's request and
then sends frames of its own (RFC 9113, 6): nothing that the client says is looked at.
"""
import os
import socket
import struct
import sys
import threading

DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, GOAWAY = 0, 1, 3, 4, 5, 7
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
STATUS_200 = b"\x88"  # the eighth entry of HPACK's static table (RFC 7541, A)


def frame(kind, flags=0, stream=1, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


settings = frame(SETTINGS, stream=0)
head = frame(HEADERS, END_HEADERS, payload=STATUS_200)
end = frame(DATA, END_STREAM, payload=b"ok")


def goaway(last, code):
    return frame(GOAWAY, stream=0, payload=struct.pack(">II", last, code))


# name: (what is sent, what is sent again and again after that)
SCRIPTS = {
    "plain": (head + end, b""),
    "padded": (
        frame(HEADERS, END_HEADERS | PADDED, payload=b"\x03" + STATUS_200 + b"\0\0\0")
        + frame(DATA, END_STREAM | PADDED, payload=b"\x02ok\0\0"),
        b"",
    ),
    "goaway-after-this-stream": (goaway(1, 0) + head + end, b""),
    "goaway-protocol-error": (goaway(1, 1), None),
    "rst-internal-error": (frame(RST_STREAM, payload=struct.pack(">I", 2)), b""),
    "rst-in-the-body": (head + frame(DATA, payload=b"half") + frame(RST_STREAM, payload=struct.pack(">I", 2)), b""),
    "close-before-the-head": (b"", None),
    "close-in-the-body": (head + frame(DATA, payload=b"half"), None),
    "no-status": (frame(HEADERS, END_HEADERS, payload=b"\x84") + end, b""),
    "undecodable-head": (frame(HEADERS, END_HEADERS, payload=b"\xff\xff\xff\xff\xff\xff\xff"), b""),
    "data-on-stream-0": (frame(DATA, stream=0, payload=b"x"), b""),
    "push-although-disabled": (
        frame(PUSH_PROMISE, END_HEADERS, payload=struct.pack(">I", 2) + b"\x82\x86\x84") + head + end,
        b"",
    ),
    "length-too-long": (frame(HEADERS, END_HEADERS, payload=STATUS_200 + b"\x0f\x0d\x019") + end, b""),
    "refused-once": (frame(RST_STREAM, payload=struct.pack(">I", 7)), b""),
    "sent-away-once": (goaway(0, 0), None),
    "endless-settings": (b"", settings * 100),
    "endless-empty-data": (head, frame(DATA) * 100),
    "endless-rst": (head, frame(RST_STREAM, stream=1, payload=struct.pack(">I", 2)) * 100),
}


def read(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise OSError("the client is gone")
        data += piece
    return data


def wait_for_request(connection):
    while True:
        start = read(connection, 9)
        read(connection, int.from_bytes(start[:3], "big"))
        if start[3] == HEADERS:
            return


def handle(connection, first, more):
    with connection:
        try:
            read(connection, 24)
            connection.sendall(settings)
            wait_for_request(connection)
            connection.sendall(first)
            while more:
                connection.sendall(more)
            while more is not None and connection.recv(4096):
                pass
        except OSError:
            pass  # what the client does about it is looked at over there


def serve(name, first, more):
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        script = (first, more)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=handle, args=(connection, *script), daemon=True).start()
            if name.endswith("-once"):
                script = SCRIPTS["plain"]

    threading.Thread(target=accept, daemon=True).start()
    print(name, listener.getsockname()[1])


for name, (first, more) in SCRIPTS.items():
    serve(name, first, more)
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
