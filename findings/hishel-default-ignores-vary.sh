#!/bin/bash
# hishel 2.0.0: the default client of this HTTP cache doesn't follow the rules of HTTP caching.
#
# The package's summary is "Elegant HTTP Caching for Python". The usual guess is that `CacheClient()` reuses a response only
# if its fields allow it: not after `max-age=0`, and not in another language if `Vary` names `Accept-Language`. By default
# it reuses any successful response of the same method and URL. `rfc=True` gives the rules of RFC 9111.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install hishel==2.0.0 httpx==0.28.1 2>pip.log || { echo "hishel 2.0.0 can't be installed"; exit 69; }

cat >default.py <<'PYTHON'
import http.server, sys, threading
from hishel import SqliteStorage
from hishel.httpx import CacheClient, CacheTransport
import httpx

requested = []

class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        requested.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "1")
        if self.path == "/old":
            self.send_header("Cache-Control", "max-age=0")
        else:
            self.send_header("Cache-Control", "max-age=60")
            self.send_header("Vary", "Accept-Language")
        self.end_headers()
        self.wfile.write(b"x")

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()

def requests_for(client, path):
    requested.clear()
    for language in "en", "de":
        client.get(f"http://127.0.0.1:{server.server_port}{path}", headers={"Accept-Language": language})
    return len(requested)

clients = {
    "default": CacheClient(),
    "rfc=True": httpx.Client(
        transport=CacheTransport(httpx.HTTPTransport(), storage=SqliteStorage(database_path="rfc.db"), rfc=True)
    ),
}
seen = {name: [requests_for(client, path) for path in ("/old", "/vary")] for name, client in clients.items()}
print("hishel 2.0.0, requests for two GETs, in English and in German:")
for name, (old, vary) in seen.items():
    print(f"  {name}: max-age=0: guess 2, seen {old}; Vary: Accept-Language: guess 2, seen {vary}")
sys.exit(0 if seen == {"default": [1, 1], "rfc=True": [2, 2]} else 1)
PYTHON
env/bin/python default.py
