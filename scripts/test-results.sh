#!/bin/bash
# Reads what `swift test` left behind: its output (LOG) and its xUnit file (XML).
#
#   scripts/test-results.sh counts XML LOG      passed, failed and skipped, as three numbers
#   scripts/test-results.sh summary XML LOG     the same in words
#   scripts/test-results.sh skips LOG           one line a skipped test: its name and the reason
#   scripts/test-results.sh failures LOG        what was expected, and where
#   scripts/test-results.sh unfinished LOG      tests that began and did not end
set -euo pipefail

# Tests that gave up half-way are skips too, but the xUnit file takes them for passed.
cancelled() { grep -c '^[^ ]* Test .* was cancelled after ' "$1" || true; }

counts() {
    awk -v cancelled="$(cancelled "$2")" '
        /<testcase / { tests++; isFailed = 0 }
        /<failure/ && !isFailed { failed++; isFailed = 1 }
        /<skipped/ { skipped++ }
        END { print tests - failed - skipped - cancelled, failed + 0, skipped + cancelled }
    ' "$1"
}

case ${1-} in
    counts) counts "$2" "$3" ;;
    summary) counts "$2" "$3" | awk '{ print $1 " passed, " $2 " failed, " $3 " skipped" }' ;;
    skips) sed -nE 's/^[^ ]* Test (.*) (skipped|was cancelled after [0-9.]+ seconds): "(.*)"$/\1: \3/p' "$2" | sort ;;
    failures)
        awk '
            /^[^ ]* Test .* recorded an issue/ { print; wanted = 1; next }
            /^↳ / && wanted { print "    " $0; next }
            { wanted = 0 }
        ' "$2"
        ;;
    unfinished)
        awk '
            { line = $0; sub(/^[^ ]* Test /, "", line) }
            line == $0 { next }
            sub(/ started\.$/, "", line) { open[line] = 1; next }
            sub(/ (passed|failed|was cancelled) after .*/, "", line) { sub(/ with [0-9]+ test cases?$/, "", line); delete open[line] }
            END { for (name in open) if (name !~ /^(case |run$)/) print "    " name }
        ' "$2" | sort
        ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
