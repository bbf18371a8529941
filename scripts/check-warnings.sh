#!/bin/bash
# Fails if a file of the package has warnings in the build of ./check, even if the last build didn't compile that file again: the
# compiler stores the diagnostics of each file next to its object file.
#
# Tests/SeedTests/Swift5 is exempt: it contains the seed's exact declarations, whose Sendable warnings are expected.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(pwd -P)
. scripts/build-options.sh
# shellcheck disable=SC2086 # several words
products=$(swift build $build_options --show-bin-path)

status=0
while IFS= read -r diagnostics; do
    text=$(strings -n 8 "$diagnostics")
    file=$(grep -m 1 -oE "$root/(Sources|Tests|Snippets)/.*\.swift" <<<"$text") || continue
    case $file in "$root/Tests/SeedTests/Swift5/"*) continue ;; esac
    if [ -e "$file" ]; then
        echo "warning in ${file#"$root"/}:"
        grep -v -F "$root" <<<"$text" | sed 's/^/    /'
        status=1
    fi
done < <(find "$products/" -name '*.dia' -exec grep -laE "$root/(Sources|Tests|Snippets)/" {} +)
exit $status
