// swift-tools-version: 6.2
import PackageDescription

// Module names are global in a package graph, so folders are short and modules carry the product's name.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Tests count what transports leave behind: see Sources/Curl/Loop/ResourceTracker.swift.
// ./check defines it in its own configuration.
let countingLeftovers = settings + [.define("COUNTS_LEFTOVERS", .when(configuration: .debug))]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let withoutCombine = TargetDependencyCondition.when(platforms: [.linux, .android, .windows])
let openCombine = Target.Dependency.product(name: "OpenCombine", package: "OpenCombine", condition: withoutCombine)
let openCombineDispatch = Target.Dependency.product(
    name: "OpenCombineDispatch",
    package: "OpenCombine",
    condition: withoutCombine
)

let package = Package(
    name: "BeagleNet",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "BeagleNet", targets: ["BeagleNet", "BeagleNetCurl"]),
        .library(name: "BeagleNetDiskCache", targets: ["BeagleNetDiskCache"]),
        .library(name: "BeagleNetGraphQL", targets: ["BeagleNetGraphQL"]),
        .library(name: "BeagleNetURLSession", targets: ["BeagleNetURLSession"]),
        .library(name: "BeagleNetCombine", targets: ["BeagleNetCombine"]),
        .library(name: "BeagleNetExchanges", targets: ["BeagleNetExchanges"]),
        .library(name: "BeagleNetObservability", targets: ["BeagleNetObservability"]),
        .library(name: "BeagleNetReplay", targets: ["BeagleNetReplay"]),
        .library(name: "BeagleNetTesting", targets: ["BeagleNetTesting"]),
        .executable(name: "beagle", targets: ["beagle"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CBeagleNetCurl",
            path: "Sources/CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev", "zlib1g-dev"]), .brew(["curl"])]
        ),
        .target(name: "CBeagleNetMemory", path: "Sources/CMemory"),
        .target(
            name: "BeagleNetHTTP",
            dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")],
            path: "Sources/HTTP",
            swiftSettings: settings
        ),
        .target(name: "BeagleNetCache", dependencies: ["BeagleNetHTTP"], path: "Sources/Cache", swiftSettings: settings),
        .target(
            name: "BeagleNetDiskCache",
            dependencies: ["BeagleNetCache", "BeagleNetHTTP", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Sources/DiskCache",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetRequestBuilder",
            dependencies: ["BeagleNetHTTP"],
            path: "Sources/RequestBuilder",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetDependencies",
            dependencies: [.product(name: "Logging", package: "swift-log")],
            path: "Sources/Dependencies",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetCurl",
            dependencies: ["BeagleNetHTTP", "CBeagleNetCurl", "CBeagleNetMemory"],
            path: "Sources/Curl",
            swiftSettings: countingLeftovers
        ),
        .target(
            name: "BeagleNet",
            dependencies: [
                "BeagleNetHTTP", "BeagleNetRequestBuilder", "BeagleNetDependencies", "BeagleNetCache", "BeagleNetCurl",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetGraphQL",
            dependencies: ["BeagleNet"],
            path: "Sources/GraphQL",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetURLSession",
            dependencies: ["BeagleNet", "BeagleNetGraphQL"],
            path: "Sources/URLSession",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetCombine",
            dependencies: ["BeagleNetURLSession", openCombine, openCombineDispatch],
            path: "Sources/Combine",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetExchanges",
            dependencies: ["BeagleNetCombine", openCombine, openCombineDispatch],
            path: "Sources/Exchanges",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetObservability",
            dependencies: [
                "BeagleNet", .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            path: "Sources/Observability",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetReplay",
            dependencies: ["BeagleNet", "BeagleNetCurl", "CBeagleNetCurl"],
            path: "Sources/Replay",
            swiftSettings: settings
        ),
        .target(
            name: "BeagleNetTesting",
            dependencies: ["BeagleNetReplay"],
            path: "Sources/Testing",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "beagle",
            dependencies: [
                "BeagleNet", "BeagleNetDiskCache", "BeagleNetGraphQL", "BeagleNetReplay", "BeagleNetCurl",
                argumentParser,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "HTTPTests",
            dependencies: ["BeagleNetHTTP", "TestPrograms"],
            swiftSettings: settings
        ),
        .testTarget(name: "CacheTests", dependencies: ["BeagleNetCache"], swiftSettings: settings),
        .testTarget(
            name: "DiskCacheTests",
            dependencies: [
                "BeagleNet", "BeagleNetDiskCache", "BeagleNetTesting", "CurlPeers", "DiskCacheProbe", "TestPrograms",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "DiskCacheProbe",
            dependencies: ["BeagleNetDiskCache"],
            path: "Tests/DiskCacheProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "RequestBuilderTests",
            dependencies: ["BeagleNetRequestBuilder"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "DependenciesTests",
            dependencies: ["BeagleNetDependencies", "BeagleNetTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CurlTests",
            dependencies: [
                "BeagleNetCurl", "CBeagleNetCurl", "CBeagleNetMemory", "BeagleNetTesting", "CurlPeers", "ForkProbe",
                "TestPrograms",
            ],
            swiftSettings: countingLeftovers
        ),
        .target(
            name: "TestPrograms",
            dependencies: ["BeagleNetHTTP"],
            path: "Tests/TestPrograms",
            swiftSettings: settings
        ),
        .target(
            name: "CurlPeers",
            dependencies: ["BeagleNetCurl", "BeagleNetHTTP", "BeagleNetTesting", "TestPrograms"],
            path: "Tests/CurlPeers",
            exclude: ["Certificates", "h2_peer.py", "h3_peer.py", "tls_peer.py", "ws_peer.py"],
            swiftSettings: countingLeftovers
        ),
        .executableTarget(
            name: "ForkProbe",
            dependencies: ["BeagleNetCurl"],
            path: "Tests/ForkProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "BeagleNetTests",
            dependencies: ["BeagleNet", "BeagleNetTesting", "CurlPeers", "TestClients"],
            swiftSettings: settings
        ),
        .target(
            name: "TestClients",
            dependencies: ["BeagleNet", "BeagleNetTesting"],
            path: "Tests/TestClients",
            swiftSettings: settings
        ),
        .testTarget(
            name: "ScreenTests",
            dependencies: ["BeagleNet", "BeagleNetTesting", "CurlPeers", "TestClients"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "GraphQLTests",
            dependencies: ["BeagleNetGraphQL", "BeagleNetReplay", "BeagleNetTesting", "CurlPeers", "GraphQLPeers"],
            swiftSettings: settings
        ),
        .target(
            name: "GraphQLPeers",
            dependencies: ["BeagleNetGraphQL", "TestPrograms"],
            path: "Tests/GraphQLPeers",
            exclude: ["graphql_server.py"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CombineTests",
            dependencies: ["BeagleNetCombine", "BeagleNetTesting", "CurlPeers", "GraphQLPeers"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ExchangesTests",
            dependencies: ["BeagleNetExchanges", "BeagleNetTesting", "CurlPeers", "GraphQLPeers"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "URLSessionTests",
            dependencies: ["BeagleNetURLSession", "BeagleNetCurl", "BeagleNetTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ReplayTests",
            dependencies: [
                "BeagleNetReplay", "BeagleNetCurl", "BeagleNetObservability", "BeagleNetTesting", "CurlPeers",
                "TestPrograms",
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            exclude: ["Archives", "Recordings"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ObservabilityTests",
            dependencies: [
                "BeagleNetGraphQL", "BeagleNetObservability", "BeagleNetTesting", "CurlPeers",
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ToolTests",
            dependencies: [
                "beagle", "BeagleNetReplay", "BeagleNetTesting", "CurlPeers", "GraphQLPeers", "OutboxProbe",
                "RecordProbe", "TestPrograms",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "OutboxProbe",
            dependencies: ["BeagleNet", "BeagleNetCurl"],
            path: "Tests/OutboxProbe",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RecordProbe",
            dependencies: ["BeagleNetReplay"],
            path: "Tests/RecordProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "BeagleNet", "BeagleNetCurl", "BeagleNetGraphQL", "BeagleNetHTTP", "BeagleNetReplay",
                "BeagleNetRequestBuilder",
            ],
            exclude: ["Corpus", "LibFuzzer.swift"],
            swiftSettings: settings
        ),
        // The seed's listings must compile in an app that doesn't enable our upcoming features.
        .testTarget(
            name: "SeedTests5",
            dependencies: [
                "BeagleNet", "BeagleNetCombine", "BeagleNetExchanges", "BeagleNetTesting", "GraphQLPeers",
            ],
            path: "Tests/SeedTests/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .testTarget(
            name: "SeedTests6",
            dependencies: [
                "BeagleNet", "BeagleNetCombine", "BeagleNetExchanges", "BeagleNetTesting", "GraphQLPeers",
            ],
            path: "Tests/SeedTests/Swift6"
        ),
    ],
    swiftLanguageModes: [.v6]
)

// libFuzzer provides this target's `main`, so only scripts/fuzz.sh builds it, from the sources of FuzzTests.
if Context.environment["BEAGLENET_FUZZ"] != nil {
    package.targets.removeAll { $0.name == "FuzzTests" }
    package.targets.append(
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "BeagleNet", "BeagleNetCurl", "BeagleNetGraphQL", "BeagleNetHTTP", "BeagleNetReplay",
                "BeagleNetRequestBuilder",
            ],
            path: "Tests/FuzzTests",
            exclude: ["Corpus", "CorpusTests.swift"],
            swiftSettings: settings
        )
    )
}

// ./check names the test targets that a sanitizer runs, so that the others aren't built for it.
if let names = Context.environment["BEAGLENET_TESTS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
