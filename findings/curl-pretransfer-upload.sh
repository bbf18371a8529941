#!/bin/bash
# libcurl 8.23.0 (pycurl 7.49.0): the "pretransfer" time of an upload is the time after its first part was read.
#
# libcurl's manual says of CURLINFO_PRETRANSFER_TIME_T: the time "until the file transfer is just about to begin". The
# usual guess is that it doesn't include the wait for an application that takes half a second to produce the first bytes
# of a body. It does: it is set after the first part of the body was read.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --no-deps pycurl==7.49.0 || { echo "pycurl 7.49.0 can't be installed"; exit 69; }

cat >upload.py <<'PYTHON'
import http.server, io, sys, threading, time
import pycurl

PAUSE = 0.5

class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(pycurl.version.split()[1])
if not pycurl.version.split()[1].endswith("/8.23.0"):
    sys.exit(69)

def upload(pause):
    body = io.BytesIO(b"a" * 10)
    start = time.monotonic()
    seen = {}

    def read(count):
        if "read" not in seen:
            time.sleep(pause)
            seen["read"] = time.monotonic() - start
        return body.read(count)

    def about_to_send(*_):
        seen["about to send"] = time.monotonic() - start
        return 0

    curl = pycurl.Curl()
    curl.setopt(curl.URL, f"http://127.0.0.1:{server.server_port}/")
    curl.setopt(curl.POST, 1)
    curl.setopt(curl.POSTFIELDSIZE, 10)
    curl.setopt(curl.READFUNCTION, read)
    curl.setopt(curl.PREREQFUNCTION, about_to_send)
    curl.perform()
    times = (seen["about to send"], seen["read"], curl.getinfo(curl.PRETRANSFER_TIME))
    print("pause %.1f s: about to send %.3f s, first part read %.3f s, pretransfer %.3f s" % (pause, *times))
    return times

upload(0)
sent, read, pretransfer = upload(PAUSE)
print("guess: pretransfer at the time at which the request is about to be sent")
sys.exit(0 if sent < PAUSE <= pretransfer else 1)
PYTHON
env/bin/python upload.py
