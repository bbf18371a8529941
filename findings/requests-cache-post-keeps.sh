#!/bin/bash
# requests-cache 1.3.3: after a successful POST to a URL, a GET of it is still answered from the store.
#
# RFC 9111, 4.4: a cache must invalidate the responses of a URL after a successful request with an unsafe method. The
# usual guess is that a GET after a POST sees the change of the POST. With `cache_control=True`, the setting for the rules
# of HTTP caching, it gets the old response as long as `max-age` allows.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install requests-cache==1.3.3 requests==2.32.5 2>pip.log ||
    { echo "requests-cache 1.3.3 can't be installed"; exit 69; }

cat >post.py <<'PYTHON'
import http.server, sys, threading
import requests_cache

values = []

class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = str(len(values)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if self.command == "GET":
            self.send_header("Cache-Control", "max-age=60")
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        values.append("added")
        self.do_GET()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/list"
session = requests_cache.CachedSession(backend="memory", cache_control=True)
before = session.get(url).text
posted = session.post(url, data="one").text
after = session.get(url)
print(f"requests-cache 1.3.3: GET {before}, POST {posted}, GET: guess 1, seen {after.text}, from the cache: {after.from_cache}")
sys.exit(0 if (before, posted, after.text, after.from_cache) == ("0", "1", "0", True) else 1)
PYTHON
env/bin/python post.py
