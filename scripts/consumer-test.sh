#!/bin/bash
# Builds and runs a small app outside of the repository, as a user would. The app depends on BeagleNet and on a package that
# has a target named Dependencies, and replaces the network client in the container. Then checks the linked libraries: the
# app must link neither Foundation nor FoundationNetworking, and the static program must be small.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(pwd -P)
largest_static_program=22000000

app=$(mktemp -d)
trap 'rm -rf "$app"' EXIT
mkdir -p "$app/Other/Sources/Dependencies" "$app/App/Sources/App"

cat >"$app/Other/Package.swift" <<'SWIFT'
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Other",
    products: [.library(name: "Dependencies", targets: ["Dependencies"])],
    targets: [.target(name: "Dependencies")]
)
SWIFT

cat >"$app/Other/Sources/Dependencies/Dependency.swift" <<'SWIFT'
public struct DependencyValues: Sendable {
    public var greeting = "hello"
    public init() {}
}
SWIFT

cat >"$app/App/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "BeagleNet", path: "$root"), .package(path: "../Other")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "BeagleNet", package: "BeagleNet"),
                .product(name: "Dependencies", package: "Other"),
            ]
        )
    ]
)
SWIFT

cat >"$app/App/Sources/App/App.swift" <<'SWIFT'
import BeagleNet
import Dependencies

@main
struct App {
    static func main() async throws {
        let ours = Beagle.dependencies.networkClient
        precondition(ours is NetworkClientDefault, "the default client must use libcurl")

        Beagle.dependencies.networkClient = StubClient { request in
            try NetworkResponse(json: ["title": "\(DependencyValues().greeting) from \(request.url.path)"])
        }
        let screen = try await Beagle.dependencies.networkClient.fetch(
            "https://example.com/home",
            as: JSONValue.self
        )
        print(screen["title"] ?? "nothing")
    }
}
SWIFT

# Build only the App product: a user doesn't compile the tools and tests of BeagleNet.
build=(swift build --package-path "$app/App" -c release --product App)
"${build[@]}"
program=$("${build[@]}" --show-bin-path)/App
said=$("$program")
echo "output of the app: $said"
case $said in *"hello from /home"*) ;; *) echo "the response did not come from the replaced client"; exit 1 ;; esac

if [ "$(uname -s)" != Linux ]; then exit; fi
linked=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "linked: $(echo "$linked" | tr '\n' ' ')"
if ! grep -q libcurl <<<"$linked"; then echo "libcurl is not linked"; exit 1; fi
if grep -E '^lib(Foundation|FoundationNetworking)\.so' <<<"$linked"; then echo "these libraries must not be linked"; exit 1; fi

"${build[@]}" --static-swift-stdlib --scratch-path "$app/static"
program=$("${build[@]}" --static-swift-stdlib --scratch-path "$app/static" --show-bin-path)/App
strip "$program"
"$program"
size=$(wc -c <"$program")
echo "note: the stripped static program has $((size / 1000)) kB"
if [ "$size" -gt "$largest_static_program" ]; then echo "the program is larger than $largest_static_program bytes"; exit 1; fi
