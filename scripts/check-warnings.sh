#!/bin/bash
# Fails when the last debug build warned about a file of ours, also where that file was not compiled again just now: the
# compiler leaves each file's diagnostics beside its object file.
#
# Tests/SeedTests/Swift5 is exempt: it holds a seed's exact shapes, whose Sendable warnings are expected.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(pwd -P)
products=$(swift build --show-bin-path)

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
