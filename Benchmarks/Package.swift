// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let beagleNet = Target.Dependency.product(name: "BeagleNet", package: "BeagleNet")

// A separate package, so that apps that use BeagleNet don't compile async-http-client or OpenCombine.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        // With a name, because the folder of a clone may have any name.
        .package(name: "BeagleNet", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "Load", swiftSettings: settings),
        .executableTarget(name: "bench-transport", dependencies: ["Load", beagleNet], swiftSettings: settings),
        .target(
            name: "BenchApp",
            dependencies: [
                beagleNet, .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-client",
            dependencies: [
                "BenchApp", "Load", beagleNet, .product(name: "BeagleNetReplay", package: "BeagleNet"),
                .product(name: "BeagleNetGraphQL", package: "BeagleNet"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-cache",
            dependencies: [
                "AllocationCount", "BenchApp", beagleNet,
                .product(name: "BeagleNetDiskCache", package: "BeagleNet"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-graphql",
            dependencies: [.product(name: "BeagleNetGraphQL", package: "BeagleNet")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-subscriptions",
            dependencies: [beagleNet, .product(name: "BeagleNetGraphQL", package: "BeagleNet")],
            swiftSettings: settings
        ),
        .target(name: "AllocationCount"),
        .target(name: "PublisherChain", dependencies: ["OpenCombine", beagleNet], swiftSettings: settings),
        .executableTarget(
            name: "bench-pipeline",
            dependencies: ["AllocationCount", "OpenCombine", "PublisherChain", beagleNet],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-exchanges",
            dependencies: [
                "AllocationCount", "OpenCombine", "PublisherChain", beagleNet,
                .product(name: "BeagleNetExchanges", package: "BeagleNet"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-replay",
            dependencies: [beagleNet, .product(name: "BeagleNetReplay", package: "BeagleNet")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-recording",
            dependencies: [beagleNet, .product(name: "BeagleNetReplay", package: "BeagleNet")],
            swiftSettings: settings
        ),
        .executableTarget(name: "bench-screen", dependencies: [beagleNet], swiftSettings: settings),
        .executableTarget(
            name: "bench-ahc",
            dependencies: ["Load", .product(name: "AsyncHTTPClient", package: "async-http-client")],
            swiftSettings: settings
        ),
        .executableTarget(name: "bench-urlsession", dependencies: ["Load"], swiftSettings: settings),
        .executableTarget(
            name: "bench-c",
            cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("curl")]
        ),
        .executableTarget(
            name: "bench-c-flood",
            cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("curl")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
