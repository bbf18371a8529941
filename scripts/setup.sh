#!/bin/sh
# Installs everything that building BeagleNet needs, except Swift. Running it again does nothing if nothing is missing.
#
#   scripts/setup.sh             installs the packages that ./demo and ./check need
#   scripts/setup.sh --peers     also installs the servers and tools that ./check --full needs
#   scripts/setup.sh --dry-run   prints the install commands without running them
#
# Exit codes: 0 if everything is installed; 69 if the script can't install something (the message says what to do).
set -eu

dry_run=no
peers=no
for argument in "$@"; do
    case $argument in
        --dry-run) dry_run=yes ;;
        --peers) peers=yes ;;
        *) echo "usage: scripts/setup.sh [--peers] [--dry-run]" >&2; exit 64 ;;
    esac
done

missing=
python_packages="websockets==17.4 mitmproxy==11.0.2 haralyzer==2.4.0 jsonschema==4.26.0"
# GraphQL servers.
python_packages="$python_packages strawberry-graphql==0.341.2 ariadne==1.1.1 starlette==1.10.0 uvicorn==0.54.0"
python_packages="$python_packages python-multipart==0.0.34"
python_modules="haralyzer, jsonschema, mitmproxy, websockets.asyncio.server, strawberry.asgi, ariadne, uvicorn, python_multipart"

# need PACKAGE FILE...: adds PACKAGE to $missing if none of the files exists (a pattern without a match isn't a file).
need() {
    package=$1
    shift
    for file in "$@"; do
        if [ -e "$file" ]; then return; fi
    done
    missing="$missing $package"
}

# need_command PACKAGE COMMAND: adds PACKAGE to $missing if the command isn't installed.
need_command() {
    if ! command -v "$2" >/dev/null 2>&1; then missing="$missing $1"; fi
}

# The compiler links against the newest libstdc++ of the system's gcc.
cxx_package() {
    # shellcheck source=/dev/null
    . /etc/os-release
    case "${ID:-}-${VERSION_ID:-}" in
        debian-13*) echo libstdc++-14-dev ;;
        ubuntu-24.* | ubuntu-25.*) echo libstdc++-13-dev ;;
        *) echo libstdc++-12-dev ;;
    esac
}

find_missing_on_debian() {
    need libcurl4-openssl-dev /usr/include/curl/curl.h /usr/include/*/curl/curl.h
    need zlib1g-dev /usr/include/zlib.h
    need libsqlite3-dev /usr/include/sqlite3.h
    need_command git git
    need_command binutils ld
    need libc6-dev /usr/include/features.h
    need "$(cxx_package)" /usr/lib/gcc/*/*/libstdc++.so
    need libncurses6 /usr/lib/*/libncurses.so.6 /lib/*/libncurses.so.6
    need libxml2 /usr/lib/*/libxml2.so.2
    need libsqlite3-0 /usr/lib/*/libsqlite3.so.0
    need ca-certificates /etc/ssl/certs/ca-certificates.crt
    need tzdata /usr/share/zoneinfo/Europe
    if [ "$peers" = yes ]; then
        need_command nginx-light nginx
        need_command lighttpd lighttpd
        need_command nghttp2-server nghttpd
        need_command nghttp2-client h2load
        need_command tinyproxy-bin tinyproxy
        need_command squid-openssl squid
        need_command microsocks microsocks
        need_command dante-server danted
        need_command python3 python3
        need python3-venv /usr/lib/python3*/ensurepip/__init__.py "$(command -v pip3 || echo none)"
        need_command openssl openssl
        need_command jq jq
        need_command binutils readelf
        # On Ubuntu, this package installs a snap, which can't read temporary files.
        if grep -q '^ID=debian' /etc/os-release; then need_command chromium chromium; fi
    fi
}

# install COMMAND...: runs the command as root or with sudo. If neither is possible, prints what to run, and exits.
install() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        sudo "$@"
    else
        echo "setup: missing:$missing" >&2
        echo "setup: no permission to install packages; ask an administrator to run:" >&2
        echo "    apt-get update && apt-get install --no-install-recommends -y$missing" >&2
        exit 69
    fi
}

setup_debian() {
    find_missing_on_debian
    if [ -z "$missing" ]; then return; fi
    echo "setup: apt-get install --no-install-recommends -y$missing" >&2
    if [ "$dry_run" = yes ]; then return; fi
    if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then install apt-get update -q; fi
    # shellcheck disable=SC2086 # one word for each package
    install env DEBIAN_FRONTEND=noninteractive apt-get install -q --no-install-recommends -y $missing
}

setup_fedora() {
    packages="libcurl-devel zlib-devel git binutils gcc-c++ glibc-devel libstdc++-devel ncurses-libs libxml2 sqlite-libs tzdata"
    if [ "$peers" = yes ]; then packages="$packages nginx lighttpd nghttp2 tinyproxy squid python3 openssl jq"; fi
    headers=no
    if [ -e /usr/include/curl/curl.h ] && [ -e /usr/include/zlib.h ]; then headers=yes; fi
    if [ "$headers$peers" = yesno ]; then return; fi
    echo "setup: make sure that these are installed:" >&2
    echo "    sudo dnf install $packages" >&2
    [ "$headers" = yes ] || exit 69
}

setup_macos() {
    if ! xcode-select -p >/dev/null 2>&1; then
        echo "setup: the command line tools are missing; run: xcode-select --install" >&2
        exit 69
    fi
    # The SDK includes libcurl and zlib; only the peers have to be installed.
    if [ "$peers" = yes ]; then echo "setup: peers: brew install nginx lighttpd nghttp2 python3 openssl jq binutils" >&2; fi
}

# Installs the Python servers and libraries that tests use into a separate virtual environment.
setup_python() {
    if [ "$peers" = no ] || .build/python/bin/python3 -c "import $python_modules" 2>/dev/null; then return; fi
    echo "setup: .build/python/bin/pip install $python_packages" >&2
    if [ "$dry_run" = yes ]; then return; fi
    # shellcheck disable=SC2086 # one word for each package
    if ! python3 -m venv .build/python || ! .build/python/bin/pip install -q $python_packages; then
        echo "setup: cannot install the Python packages that tests use; see the output above" >&2
        exit 69
    fi
}

check_swift() {
    if ! command -v swift >/dev/null 2>&1; then
        echo "setup: Swift is not installed; version 6.2 or newer is required: https://www.swift.org/install/" >&2
        exit 69
    fi
    found=$(swift --version 2>&1 | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
    case $found in
        6.[01] | [0-5].*)
            echo "setup: found Swift $found, but version 6.2 or newer is required: https://www.swift.org/install/" >&2
            exit 69
            ;;
        '')
            echo "setup: cannot find the version of Swift in the output of 'swift --version':" >&2
            swift --version >&2 || true
            exit 69
            ;;
    esac
}

cd "$(dirname "$0")/.."
case $(uname -s) in
    Darwin) setup_macos ;;
    Linux)
        if command -v apt-get >/dev/null 2>&1; then
            setup_debian
        elif command -v dnf >/dev/null 2>&1; then
            setup_fedora
        else
            echo "setup: unknown distribution; install Swift 6.2, git, binutils, and the headers of libcurl, zlib and the C library" >&2
        fi
        ;;
    *) echo "setup: this operating system is not supported" >&2; exit 69 ;;
esac
check_swift
setup_python
