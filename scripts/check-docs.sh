#!/bin/bash
# Builds the documentation of every library in .build/docs. Fails if DocC has a warning, for example about a broken link or
# a parameter that doesn't exist.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/build-options.sh
output=$PWD/.build/docs

docc=docc
if command -v xcrun >/dev/null; then docc=$(xcrun --find docc); fi

# shellcheck disable=SC2086 # several words
graphs=$(swift package $build_options dump-symbol-graph --minimum-access-level public --skip-synthesized-members |
    sed -n 's/^Files written to //p')
rm -rf "$output"
mkdir -p "$output"

count=0 status=0
for graph in "$graphs"/BeagleNet*.symbols.json; do
    module=$(basename "$graph" .symbols.json)
    # Skip extensions of other modules, and test modules.
    case $module in *@* | *Tests) continue ;; esac
    folder=$output/graphs/$module
    mkdir -p "$folder"
    cp "$graph" "$graphs/$module@"*.symbols.json "$folder" 2>/dev/null || true
    catalogs=$(find Sources -name "$module.docc")
    # shellcheck disable=SC2086 # zero or one word
    "$docc" convert $catalogs --additional-symbol-graph-dir "$folder" --output-dir "$output/$module.doccarchive" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" --warnings-as-errors || status=1
    count=$((count + 1))
done
rm -rf "$output/graphs"
if [ "$count" = 0 ]; then echo "found no library in $graphs"; exit 1; fi
echo "note: $count libraries"
exit $status
