#!/bin/bash
# curl 7.88.1: an IPv6 network in --noproxy matches nothing, while an IPv4 network does.
#
# curl's manual says of --noproxy: "Since 7.86.0, IP addresses specified to this option can be provided using CIDR
# notation". The usual guess is that ::1/64 covers ::1 as 127.0.0.0/8 covers 127.0.0.1.
set -euo pipefail

folder=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$folder"
}
trap finish EXIT
cd "$folder"

version=7.88.1
for package in curl libcurl4; do
    full=$(apt-cache madison "$package" | awk -v v="$version" 'index($3, v) == 1 { print $3; exit }')
    [ -n "$full" ] || { echo "no $package $version to be had: run apt-get update on Debian 12"; exit 69; }
    apt-get -qq download "$package=$full" || exit 69
done
for package in ./*.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(dirname "$(find "$folder/root" -name 'libcurl.so.4' | head -n 1)")
curl=$folder/root/usr/bin/curl
"$curl" --version | head -n 1

cat >server.py <<'PYTHON'
import http.server, socket, sys, threading

class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.end_headers()
    def log_message(self, *_):
        pass

# One port for both families.
server = Server(("::", 0), Answer)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
python3 server.py >port &
server=$!
until [ -s port ]; do kill -0 "$server" || exit 69; sleep 0.1; done
port=$(cat port)

# asked NETWORK HOST: "directly" if the request avoided the proxy, on whose port nothing listens.
asked() {
    if env -u no_proxy -u NO_PROXY "$curl" -s -o answer -m 5 -x http://127.0.0.1:1 --noproxy "$1" "http://$2:$port/"; then
        echo directly
    else
        echo "through the proxy"
    fi
}

status=0
# expect NETWORK HOST SEEN
expect() {
    local seen
    seen=$(asked "$1" "$2")
    echo "--noproxy $1, host $2: $seen"
    [ "$seen" = "$3" ] || status=1
}
expect 127.0.0.0/8 127.0.0.1 directly
expect ::1 '[::1]' directly
expect ::1/128 '[::1]' "through the proxy"
expect ::1/64 '[::1]' "through the proxy"
echo "guess: directly in all four"
exit $status
