#!/bin/bash
# CacheControl 0.14.4 and requests-cache 1.3.3: a response that was already too old when it arrived is reused.
#
# A response with `Age: 100` and `Cache-Control: max-age=60` spent 100 s in a cache on the way, such as a CDN's, so it is
# stale on arrival (RFC 9111, 4.2 and 4.2.3). The usual guess is that a client that is asked again sends a request. Both
# libraries answer from their store without one: they count the age from their own time or from `Date` alone.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install cachecontrol==0.14.4 requests-cache==1.3.3 requests==2.32.5 2>pip.log ||
    { echo "CacheControl 0.14.4 and requests-cache 1.3.3 can't be installed"; exit 69; }

cat >age.py <<'PYTHON'
import http.server, sys, threading
import cachecontrol, requests, requests_cache

requested = []

class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        requested.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "1")
        self.send_header("Cache-Control", "max-age=60")
        if self.path == "/old":
            self.send_header("Age", "100")
        self.end_headers()
        self.wfile.write(b"x")

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()

def requests_for(session, path):
    requested.clear()
    for _ in range(2):
        session.get(f"http://127.0.0.1:{server.server_port}{path}")
    return len(requested)

sessions = {
    "CacheControl 0.14.4": cachecontrol.CacheControl(requests.Session()),
    "requests-cache 1.3.3": requests_cache.CachedSession(backend="memory", cache_control=True),
}
changed = False
for name, session in sessions.items():
    fresh, old = requests_for(session, "/fresh"), requests_for(session, "/old")
    print(f"{name}: two GETs of a response with max-age=60 and")
    print(f"  no Age:   guess 1 request, seen {fresh}")
    print(f"  Age: 100: guess 2 requests, seen {old}")
    changed = changed or (fresh, old) != (1, 1)
sys.exit(1 if changed else 0)
PYTHON
env/bin/python age.py
