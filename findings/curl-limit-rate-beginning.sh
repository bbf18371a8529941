#!/bin/bash
# curl 7.88.1: --limit-rate lets the first megabytes of a fast transfer through without a limit.
#
# The manual says that "the given speed is the average speed counted during the entire transfer". The usual guess is that
# 4 MB at 400k take some ten seconds. On loopback, where the server sends faster than curl looks at the clock, they take
# less than half of that.
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
    apt-get -qq download "$package=$full" 2>/dev/null || exit 69
done
for package in ./*.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(dirname "$(find "$folder/root" -name 'libcurl.so.4' | head -n 1)")
curl=$folder/root/usr/bin/curl
"$curl" --version | head -n 1

mkdir files
head -c 4000000 /dev/zero >files/four
python3 -u -m http.server 0 --bind 127.0.0.1 --directory files >log 2>/dev/null &
server=$!
until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' log) && [ -n "$port" ]; do kill -0 "$server" || exit 69; sleep 0.1; done
seen=$(env -u http_proxy -u HTTP_PROXY "$curl" -s -o /dev/null --limit-rate 400k -w '%{time_total} %{size_download}' \
    "http://127.0.0.1:$port/four")
echo "--limit-rate 400k: ${seen#* } bytes in ${seen% *} s"
echo "guess: some 9.8 s"
awk -v seen="${seen% *}" 'BEGIN { exit seen < 7 ? 0 : 1 }'
