#!/bin/bash
# Foundation's URL(string:) in Swift 6.3.1 on Linux, as AsyncHTTPClient 1.37.0 uses it for redirects: one character that
# needs encoding makes all valid escapes of its component be encoded again.
#
# A server that redirects to "/a%20b|c" is asked for "/a%2520b%7Cc". The usual guess is "/a%20b%7Cc": RFC 3986, 2.4, says
# that an escape must not be encoded twice.
set -euo pipefail

folder=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$folder"
}
trap finish EXIT
cd "$folder"
mkdir -p Sources/escapes
cat >Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "escapes",
    dependencies: [.package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0")],
    targets: [
        .executableTarget(
            name: "escapes",
            dependencies: [.product(name: "AsyncHTTPClient", package: "async-http-client")]
        )
    ]
)
SWIFT
cat >Sources/escapes/main.swift <<'SWIFT'
import AsyncHTTPClient
import Foundation

let text = CommandLine.arguments[1]
print("URL(string:):", URL(string: text + "/a%20b|c")!.absoluteString.dropFirst(text.count))
_ = try await HTTPClient.shared.execute(HTTPClientRequest(url: text + "/start"), timeout: .seconds(10))
SWIFT
swift build -q >build.log 2>&1 || { tail -n 5 build.log; exit 69; }

cat >server.py <<'PYTHON'
import http.server

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/start":
            self.send_response(302)
            self.send_header("Location", "/a%20b|c")
        else:
            print("AsyncHTTPClient asks for:", self.path, flush=True)
            self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
python3 server.py >server.log &
server=$!
until [ -s server.log ]; do kill -0 "$server" || exit 69; sleep 0.1; done
seen=$(swift run --skip-build escapes "http://127.0.0.1:$(head -n 1 server.log)" 2>/dev/null)
echo "AsyncHTTPClient 1.37.0, $(swift --version 2>/dev/null | head -n 1)"
echo "$seen"
tail -n +2 server.log
echo "guess: /a%20b%7Cc"
[ "$seen" = "URL(string:): /a%2520b%7Cc" ] && grep -qx 'AsyncHTTPClient asks for: /a%2520b%7Cc' server.log
