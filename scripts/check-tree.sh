#!/bin/bash
# Fails on what doesn't belong in the tree: build products, resolved versions, paths of somebody's machine, unfinished
# merges, and Foundation where only FoundationEssentials may be imported.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

# forbid MESSAGE LINES
forbid() {
    if [ -n "$2" ]; then
        printf '%s:\n%s\n' "$1" "$2"
        status=1
    fi
}

forbid "not to be committed" \
    "$(git ls-files | grep -E '(^|/)(\.build|\.swiftpm|Package\.resolved|__pycache__|\.DS_Store)' || true)"

# The brackets keep this file from finding itself.
forbid "a path of one machine" \
    "$(git grep -nIE '(^|[^a-zA-Z0-9.])/([w]ork|[r]oot|[o]pt/swift|[U]sers)/|\.\./[s]hared' || true)"

forbid "an unfinished merge" "$(git grep -nIE '^([<]{7}|[>]{7}) ' || true)"

# A static program that has Foundation in it is four times as large.
core="Sources/HTTP Sources/RequestBuilder Sources/Dependencies Sources/Curl Sources/BeagleNet"
# shellcheck disable=SC2086 # one word a folder
forbid "Foundation outside of '#else' of 'canImport(FoundationEssentials)'" "$(
    # shellcheck disable=SC2016 # awk's own
    git ls-files $core | grep '\.swift$' | xargs awk '
        FNR == 1 { previous = "" }
        /import Foundation$/ && previous !~ /^ *#(else$|if !canImport\(FoundationEssentials\)$)/ { print FILENAME ":" FNR ": " $0 }
        NF { previous = $0 }
    '
)"

# Docs and scripts that are run must be runnable.
forbid "a script that is not executable" \
    "$(git ls-files -s -- check demo .ci scripts '*.sh' | grep -v '^100755' | grep -E '(\.sh|/(run|soak)|	check|	demo)$' || true)"

exit $status
