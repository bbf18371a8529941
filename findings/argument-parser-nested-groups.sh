#!/bin/bash
# swift-argument-parser 1.8.2: for each @OptionGroup around an option group, a debug build creates the group four times as
# often to parse one command line. A release build creates it twice, whatever the level.
#
# A debug build validates the declarations of a group whenever it reads them, and its validators read the groups inside
# again. A tool whose groups are nested spends most of its start on that.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p Sources/nested
cat >Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "nested",
    dependencies: [.package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")],
    targets: [
        .executableTarget(
            name: "nested",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")]
        )
    ],
    swiftLanguageModes: [.v5]
)
SWIFT
cat >Sources/nested/main.swift <<'SWIFT'
import ArgumentParser

var made = 0

struct Leaf: ParsableArguments {
    @Option var size = 1
    init() { made += 1 }
}
struct Two: ParsableArguments { @OptionGroup var leaf: Leaf }
struct Three: ParsableArguments { @OptionGroup var two: Two }
struct Four: ParsableArguments { @OptionGroup var three: Three }

func count(_ level: Int, _ type: (some ParsableArguments).Type) throws {
    made = 0
    _ = try type.parse(["--size", "2"])
    print("level \(level): made \(made) times")
}
try count(1, Leaf.self)
try count(2, Two.self)
try count(3, Three.self)
try count(4, Four.self)
SWIFT
echo "swift-argument-parser 1.8.2, $(swift --version 2>/dev/null | head -n 1)"
echo "guess: a few times, whatever the level, in both builds"
for configuration in debug release; do
    swift build -q -c "$configuration" >build.log 2>&1 || { tail -n 5 build.log; exit 69; }
    "$(swift build -c "$configuration" --show-bin-path)/nested" | sed "s/^/$configuration, /" | tee "$configuration.txt"
done
# growth CONFIGURATION: how many times as often the group is made at level 4 as at level 3, rounded down.
growth() { awk '{ times[NR] = $5 } END { print int(times[4] / times[3]) }' "$1.txt"; }
[ "$(growth debug)" -ge 3 ] && [ "$(growth release)" = 1 ]
