#!/bin/bash
# Fails if a Swift block in a document differs from the snippet that it quotes. In the document, this line comes right before
# the block:
#
#   <!-- Snippets/Fetch.swift: fetch -->
#
# In the snippet, the lines are between "// snippet.fetch" and "// snippet.end". A Swift block that quotes no snippet is a
# failure too, because no build compiles it. To allow it, put "<!-- not a snippet: reason -->" before the block.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

# region FILE NAME: prints the lines of a snippet without their common indentation.
region() {
    awk -v start="// snippet.$2" '
        index($0, "// snippet.") && inside { exit }
        inside { lines[++count] = $0; if (NF) { match($0, /^ */); if (margin == "" || RLENGTH < margin) margin = RLENGTH } }
        { line = $0; sub(/^ */, "", line); if (line == start) inside = 1 }
        END { for (i = 1; i <= count; i++) print substr(lines[i], margin + 1) }
    ' "$1"
}

# Each block of a document becomes a file, whose first line has the block's line number and the quoted snippet.
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
            echo "$document:${line} the Swift block quotes no snippet"
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
