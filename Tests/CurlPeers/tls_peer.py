"""TLS servers, each of which misbehaves in one way.

The argument is the folder of certificates. Prints a line "NAME PORT" for each server, then "ready". Ends when its input
is closed.
"""
import os
import socket
import ssl
import sys
import threading

FOLDER = sys.argv[1]
# Sockets that remain open until the process ends.
KEPT = []


def context(certificate):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(f"{FOLDER}/{certificate}.pem", f"{FOLDER}/{certificate}.key.pem")
    return made


def read_head(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(4096)
        if not piece:
            return None
        head += piece
    return head


def answer(connection):
    """Responds until the client disconnects. Redirects /to?URL to URL."""
    while head := read_head(connection):
        target = head.split(b" ")[1]
        if target.startswith(b"/to?"):
            connection.sendall(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + target[4:] + b"\r\n\r\n")
        else:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")


def cut_inside(connection):
    """Ends the TCP connection inside a body, without a TLS close_notify."""
    read_head(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")


def cut_without_length(connection):
    """Ends it the same way inside a body that is delimited by the end of the connection."""
    read_head(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nhalf")


def end_without_length(connection):
    """Ends such a body properly with a close_notify (RFC 8446, 6.1)."""
    read_head(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nwhole")
    connection.unwrap()


def cut_behind_chunks(connection):
    """Ends the TCP connection after a body that delimits itself."""
    read_head(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nwhole\r\n0\r\n\r\n")


def redirect_without_length(connection):
    """Redirects /to?URL to URL, and ends the TCP connection inside a body that is delimited by its end."""
    target = read_head(connection).split(b" ")[1]
    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: " + target[4:] + b"\r\n\r\nhalf")


def answer_once(connection):
    """Responds to one request, and disconnects when it has received another one."""
    read_head(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
    read_head(connection)


class OneHandshake:
    """A context that completes the first handshake only; the others last until the process ends."""

    def __init__(self, made):
        self.made = made
        self.count = 0

    def wrap_socket(self, plain, server_side):
        self.count += 1
        if self.count > 1:
            threading.Event().wait()
        return self.made.wrap_socket(plain, server_side=server_side)


def serve_one_connection(name, made):
    """Accepts one connection, on which it responds to one request. When it disconnects, its backlog is full."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    KEPT.append(listener)

    def accept():
        plain, _ = listener.accept()
        with plain, made.wrap_socket(plain, server_side=True) as connection:
            answer_once(connection)
            for _ in range(4):
                KEPT.append(socket.socket())
                KEPT[-1].setblocking(False)
                KEPT[-1].connect_ex(listener.getsockname())

    threading.Thread(target=accept, daemon=True).start()
    print(name, listener.getsockname()[1])


def serve(name, made, play):
    listener = socket.create_server(("127.0.0.1", 0))

    def handle(plain):
        try:
            with plain, made.wrap_socket(plain, server_side=True) as connection:
                play(connection)
        except OSError:
            pass  # the test checks how the client reacts

    def accept():
        while True:
            plain, _ = listener.accept()
            threading.Thread(target=handle, args=(plain,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print(name, listener.getsockname()[1])


for certificate in ["good", "expired", "wrong-host", "self-signed", "no-intermediate", "constrained"]:
    serve(certificate, context(certificate), answer)

serve("cut", context("good"), cut_inside)
serve("cut-without-length", context("good"), cut_without_length)
serve("end-without-length", context("good"), end_without_length)
serve("cut-behind-chunks", context("good"), cut_behind_chunks)
serve("redirect-without-length", context("good"), redirect_without_length)
serve("one-handshake", OneHandshake(context("good")), answer_once)
serve_one_connection("one-connection", context("good"))

demanding = context("good")
demanding.verify_mode = ssl.CERT_REQUIRED
demanding.load_verify_locations(f"{FOLDER}/ca.pem")
serve("client-certificate", demanding, answer)

old = context("good")
old.minimum_version = ssl.TLSVersion.TLSv1
old.maximum_version = ssl.TLSVersion.TLSv1_1
old.set_ciphers("DEFAULT:@SECLEVEL=0")
serve("tls-1.1", old, answer)

print("ready", flush=True)
sys.stdin.read()
os._exit(0)
