"""HTTP/2 servers over plain TCP (prior knowledge), each of which violates the protocol in one way.

Prints a line "NAME PORT" for each server, then "ready". Ends when its input is closed. Each server waits for the
client's request and then sends its scripted frames (RFC 9113, 6), regardless of the frames of the client.
"""
import os
import socket
import struct
import sys
import threading

DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY = 0, 1, 3, 4, 5, 6, 7
WINDOW_UPDATE, CONTINUATION, UNKNOWN = 8, 9, 200
END_STREAM, END_HEADERS, PADDED, ACK = 1, 4, 8, 1
STATUS_200 = b"\x88"  # the eighth entry of HPACK's static table (RFC 7541, A)


def frame(kind, flags=0, stream=1, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


settings = frame(SETTINGS, stream=0)
head = frame(HEADERS, END_HEADERS, payload=STATUS_200)
head_with_length = frame(HEADERS, END_HEADERS, payload=STATUS_200 + b"\x0f\x0d\x012")
end = frame(DATA, END_STREAM, payload=b"ok")
half = frame(DATA, payload=b"half")
ping = frame(PING, stream=0, payload=b"12345678")


def rst(code):
    return frame(RST_STREAM, payload=struct.pack(">I", code))


def goaway(last, code):
    return frame(GOAWAY, stream=0, payload=struct.pack(">II", last, code))


def setting(number, value):
    return frame(SETTINGS, stream=0, payload=struct.pack(">HI", number, value))


def field(name, value):
    """A literal field that is not indexed (RFC 7541, 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def answer(*fields, status=STATUS_200):
    return frame(HEADERS, END_HEADERS, payload=status + b"".join(fields)) + end


early_hints = frame(HEADERS, END_HEADERS, payload=field(b":status", b"103"))


# name: (the bytes to send, the bytes to repeat after that)
SCRIPTS = {
    "plain": (head + end, b""),
    "padded": (
        frame(HEADERS, END_HEADERS | PADDED, payload=b"\x03" + STATUS_200 + b"\0\0\0")
        + frame(DATA, END_STREAM | PADDED, payload=b"\x02ok\0\0"),
        b"",
    ),
    "trailers": (
        head
        + frame(DATA, payload=b"ok")
        + frame(HEADERS, END_STREAM | END_HEADERS, payload=b"\x00\x05x-sum\x011\x00\x05x-sum\x012"),
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
    "interim": (early_hints + head + end, b""),
    "unknown-frame": (frame(UNKNOWN, 0xFF, payload=b"x") + head + end, b""),
    "ping": (frame(PING, stream=0, payload=b"12345678") + head + end, b""),
    "rst-no-error-after-the-end": (head + end + frame(RST_STREAM, payload=struct.pack(">I", 0)), b""),
    "early-answer": (head + end + rst(0), b""),
    "early-half-answer": (head + half + rst(8), b""),
    "two-headers": (answer(field(b"a", b"1"), field(b"a", b"2")), b""),
    "connection-field": (answer(field(b"transfer-encoding", b"chunked")), b""),
    "upper-case-field": (answer(field(b"Upper", b"x")), b""),
    "line-break-in-a-value": (answer(field(b"a", b"b\r\nset-cookie: c")), b""),
    "nul-in-a-value": (answer(field(b"a", b"b\0c")), b""),
    "two-statuses": (answer(status=STATUS_200 * 2), b""),
    "status-that-is-no-number": (answer(status=field(b":status", b"abc")), b""),
    "data-before-the-head": (end, b""),
    "data-after-the-end": (head + end + end, b""),
    "head-on-stream-0": (frame(HEADERS, END_HEADERS, 0, STATUS_200), b""),
    "head-on-an-unknown-stream": (frame(HEADERS, END_HEADERS, 7, STATUS_200), b""),
    "continuation-of-nothing": (frame(CONTINUATION, END_HEADERS, payload=STATUS_200), b""),
    "frame-too-large": (head + frame(DATA, payload=bytes(1 << 20)), b""),
    "window-update-of-0": (head + frame(WINDOW_UPDATE, payload=bytes(4)), b""),
    "window-overflow": (head + frame(WINDOW_UPDATE, stream=0, payload=b"\x7f\xff\xff\xff") * 2, b""),
    "settings-with-a-bad-push": (setting(2, 2), b""),
    "settings-with-a-bad-window": (setting(4, 1 << 31), b""),
    "settings-with-a-bad-frame-size": (setting(5, 1), b""),
    "settings-of-a-bad-length": (frame(SETTINGS, stream=0, payload=b"12345"), b""),
    "padding-longer-than-the-frame": (head + frame(DATA, PADDED, payload=b"\xffok"), b""),
    "body-shorter-than-its-length": (frame(HEADERS, END_HEADERS, payload=STATUS_200 + b"\x0f\x0d\x019") + end, b""),
    "body-longer-than-its-length": (frame(HEADERS, END_HEADERS, payload=STATUS_200 + b"\x0f\x0d\x011") + end, b""),
    "http-1-answer": (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", None),
    "garbage": (b"\xff" * 4096, None),
    "endless-ping": (b"", frame(PING, stream=0, payload=b"12345678") * 100),
    "endless-continuation": (frame(HEADERS, payload=STATUS_200), frame(CONTINUATION, payload=field(b"a", b"b")) * 100),
    "endless-interim": (b"", early_hints * 100),
    "endless-trailers": (head, frame(HEADERS, payload=field(b"a", b"b")) * 100),
    "endless-window-updates": (b"", frame(WINDOW_UPDATE, stream=0, payload=b"\0\0\0\1") * 100),
    "refused-once": (frame(RST_STREAM, payload=struct.pack(">I", 7)), b""),
    "sent-away-once": (goaway(0, 0), None),
    "endless-settings": (b"", settings * 100),
    "endless-empty-data": (head, frame(DATA) * 100),
    "endless-rst": (head, frame(RST_STREAM, stream=1, payload=struct.pack(">I", 2)) * 100),
}


# name: (the bytes to send first, the bytes to send after the client has read them)
LATER = {
    "early-answer-then-no-error": (head + end, rst(0)),
    "early-answer-with-length-then-cancel": (head_with_length + end, rst(8)),
    "early-half-answer-then-cancel": (head + half, rst(8)),
    "early-half-answer-with-length-then-no-error": (head_with_length + frame(DATA, payload=b"o"), rst(0)),
}


def read(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise OSError("the client is gone")
        data += piece
    return data


def wait_for(kind, flag, connection):
    while True:
        start = read(connection, 9)
        read(connection, int.from_bytes(start[:3], "big"))
        if start[3] == kind and start[4] & flag == flag:
            return


def handle_in_two(connection, first, later):
    """The client's PING acknowledgement shows that it has read the bytes before."""
    with connection:
        try:
            read(connection, 24)
            connection.sendall(settings)
            wait_for(HEADERS, 0, connection)
            connection.sendall(first + ping)
            wait_for(PING, ACK, connection)
            connection.sendall(later)
            while connection.recv(4096):
                pass
        except OSError:
            pass  # the test checks how the client reacts


def handle(connection, first, more):
    with connection:
        try:
            read(connection, 24)
            connection.sendall(settings)
            wait_for(HEADERS, 0, connection)
            connection.sendall(first)
            while more:
                connection.sendall(more)
            while more is not None and connection.recv(4096):
                pass
        except OSError:
            pass  # the test checks how the client reacts


def serve(name, first, more, handle=handle):
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
for name, (first, later) in LATER.items():
    serve(name, first, later, handle_in_two)
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
