#!/bin/bash
# OpenCombine 0.14.0: an interval of a DispatchQueue times any number is 0.
#
# Combine's intervals are Comparable & SignedNumeric, so that a backoff may be written `base * 2`. Addition is right,
# multiplication gives 0 ns: a wait that is doubled is no wait. Intervals of a RunLoop multiply as expected.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p Sources/stride
cat >Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "stride",
    dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0")],
    targets: [
        .executableTarget(
            name: "stride",
            dependencies: [
                .product(name: "OpenCombineDispatch", package: "OpenCombine"),
                .product(name: "OpenCombineFoundation", package: "OpenCombine"),
            ]
        )
    ],
    swiftLanguageModes: [.v5]
)
SWIFT
cat >Sources/stride/main.swift <<'SWIFT'
import Dispatch
import Foundation
import OpenCombineDispatch
import OpenCombineFoundation

typealias Interval = DispatchQueue.OCombine.SchedulerTimeType.Stride
let second = Interval.seconds(1)
print("DispatchQueue: 1 s + 1 s =", (second + second).magnitude, "ns")
print("DispatchQueue: 1 s * 2 =", (second * 2).magnitude, "ns")
typealias Other = RunLoop.OCombine.SchedulerTimeType.Stride
print("RunLoop: 1 s * 2 =", (Other.seconds(1) * 2).magnitude, "s")
SWIFT
swift build -q >build.log 2>&1 || { tail -n 5 build.log; exit 69; }
seen=$(swift run --skip-build stride 2>/dev/null)
echo "OpenCombine 0.14.0, $(swift --version 2>/dev/null | head -n 1)"
echo "$seen"
echo "guess: 1 s * 2 = 2000000000 ns"
grep -q 'DispatchQueue: 1 s + 1 s = 2000000000 ns' <<<"$seen" && grep -q 'DispatchQueue: 1 s \* 2 = 0 ns' <<<"$seen"
