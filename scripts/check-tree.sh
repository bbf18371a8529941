#!/bin/bash
# Fails if the repository contains something that doesn't belong there: build products, resolved versions, absolute paths of
# one machine, unfinished merges, scripts that aren't executable, or imports of Foundation in targets that may only import
# FoundationEssentials.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

# forbid MESSAGE LINES: fails with the message and the lines, if there are any.
forbid() {
    if [ -n "$2" ]; then
        printf '%s:\n%s\n' "$1" "$2"
        status=1
    fi
}

forbid "must not be committed" \
    "$(git ls-files | grep -E '(^|/)(\.build|\.swiftpm|Package\.resolved|__pycache__|\.DS_Store)' || true)"

# The brackets keep this file from finding itself.
forbid "a path of one machine" \
    "$(git grep -nIE '(^|[^a-zA-Z0-9.])/([w]ork|[r]oot|[o]pt/swift|[U]sers)/|\.\./[s]hared' || true)"

forbid "an unfinished merge" "$(git grep -nIE '^([<]{7}|[>]{7}) ' || true)"

# A static program that links Foundation is four times as large.
core="Sources/HTTP Sources/RequestBuilder Sources/Dependencies Sources/Curl Sources/BeagleNet"
# shellcheck disable=SC2086 # one word for each folder
forbid "Foundation outside of '#else' of 'canImport(FoundationEssentials)'" "$(
    # shellcheck disable=SC2016 # variables of awk
    git ls-files $core | grep '\.swift$' | xargs awk '
        FNR == 1 { previous = "" }
        /import Foundation$/ && previous !~ /^ *#(else$|if !canImport\(FoundationEssentials\)$)/ { print FILENAME ":" FNR ": " $0 }
        NF { previous = $0 }
    '
)"

forbid "a script that is not executable" \
    "$(git ls-files -s -- check demo .ci scripts '*.sh' | grep -v '^100755' | grep -E '(\.sh|/(run|soak)|	check|	demo)$' || true)"

exit $status
