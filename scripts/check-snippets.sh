#!/bin/bash
# Fails where a Swift block of the documents differs from the snippet that it quotes. In the document,
#
#   <!-- Snippets/Fetch.swift: fetch -->
#
# stands right before a block, and in the snippet "// snippet.fetch" and "// snippet.end" stand around the lines. A Swift
# block that quotes nothing is a failure too, as the compiler has never seen it; "<!-- not a snippet: reason -->" lets it
# pass.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

# The lines of a snippet's region, with the indentation that all of them share taken off.
region() {
    awk -v start="// snippet.$2" '
        index($0, "// snippet.") && inside { exit }
        inside { lines[++count] = $0; if (NF) { match($0, /^ */); if (margin == "" || RLENGTH < margin) margin = RLENGTH } }
        { line = $0; sub(/^ */, "", line); if (line == start) inside = 1 }
        END { for (i = 1; i <= count; i++) print substr(lines[i], margin + 1) }
    ' "$1"
}

# The blocks of a document: a file each, first line what it quotes.
blocks=$(mktemp -d)
trap 'rm -rf "$blocks"' EXIT
while IFS= read -r document; do
    rm -f "$blocks"/*
    awk -v folder="$blocks" '
        /^<!-- .* -->$/ { quoted = substr($0, 6, length($0) - 9) }
        /^```swift$/ { name = sprintf("%s/%03d", folder, ++count); print FNR ": " quoted > name; quoted = ""; inside = 1; next }
        /^```$/ { if (inside) close(name); inside = 0 }
        inside { print > name }
        NF && !/^<!--/ && !inside { quoted = "" }
    ' "$document"
    for block in "$blocks"/*; do
        [ -e "$block" ] || continue
        read -r line quoted <"$block"
        file=${quoted%%: *} name=${quoted#*: }
        if [ "$file" = "not a snippet" ]; then continue; fi
        if [ ! -e "$file" ]; then
            echo "$document:${line} a Swift block quotes no snippet"
            status=1
        elif ! diff <(region "$file" "$name") <(tail -n +2 "$block") >"$blocks.diff"; then
            echo "$document:${line} differs from $file ($name):"
            sed 's/^/    /' "$blocks.diff"
            status=1
        fi
        rm -f "$blocks.diff"
    done
done < <(git ls-files '*.md')
exit $status
