#!/bin/bash
# Reads the output of `swift test` (LOG) and its xUnit file (XML).
#
#   scripts/test-results.sh counts XML LOG      prints the numbers of passed, failed and skipped tests
#   scripts/test-results.sh summary XML LOG     prints the same in words
#   scripts/test-results.sh skips LOG           prints the reasons for skipping tests, with the number of tests
#   scripts/test-results.sh failures LOG        prints each failed expectation and its place
#   scripts/test-results.sh unfinished LOG      prints the tests that started but did not end
set -euo pipefail

# A test that cancels itself counts as skipped, but the xUnit file lists it as passed.
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
    skips)
        sed -nE 's/^[^ ]* Test .* (skipped|was cancelled after [0-9.]+ seconds): "(.*)"$/\2/p' "$2" | sort | uniq -c |
            sort -k 1,1rn | awk '
                { number = $1; sub(/^ *[0-9]+ /, "") }
                sub(/ is not installed: scripts\/setup.sh --peers$/, "") {
                    missing += number; names = names (names ? ", " : "") $0; next
                }
                { others = others number (number == 1 ? " test: " : " tests: ") $0 "\n" }
                END {
                    if (missing) print missing " tests need " names ": scripts/setup.sh --peers"
                    printf "%s", others
                }'
        ;;
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
