public import BeagleNet
public import BeagleNetReplay
import BeagleNetHTTP
public import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A trait that replays a recording to a test: `@Test(.recording("login"))`.
///
/// The test has its own dependencies, whose `networkClient` is a `ReplayClient`.
///
/// If the environment contains `BEAGLENET_RECORD=1`, requests are sent to the network, and a new recording replaces the
/// old one at the end of the test. A recording therefore belongs to one test without arguments.
public struct RecordingTrait: TestTrait, TestScoping {
    /// The path of the recording without its extension.
    let path: String
    let matching: [ReplayTransport.MatchRule]
    let allowsUnused: Bool
    /// Whether a new recording is made.
    let recordsAgain: Bool
    let change: @Sendable (BeagleDependencies) throws -> Void

    /// The possible extensions of a recording.
    private static let fileExtensions = [".bglog", ".har", ".har.gz", ".zhar"]

    /// Runs the test, which fails if an entry wasn't used, unless that is allowed.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let dependencies = try Beagle.dependencies.scoped(.test, change)
        guard !recordsAgain else {
            guard testCase?.isParameterized != true else { throw Self.manyCases(path) }
            return try await record(dependencies, function)
        }
        let client = ReplayClient(try recording(), matching: matching, dependencies: dependencies)
        dependencies.networkClient = client
        try await Beagle.Scope(dependencies).run { try await function() }
        guard !allowsUnused else { return }
        do throws(NetworkError) {
            try client.assertAllUsed()
        } catch {
            Issue.record(error, sourceLocation: test.sourceLocation)
        }
    }

    private func record(
        _ dependencies: BeagleDependencies,
        _ function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        try FileManager.default.createDirectory(atPath: String(path[..<slash]), withIntermediateDirectories: true)
        let update = try Recording.Update(of: existing ?? "\(path).har")
        dependencies.networkClient = NetworkClientDefault(dependencies: dependencies)
        dependencies.requestLog = update.log
        do {
            try await Beagle.Scope(dependencies).run { try await function() }
        } catch {
            await update.discard()
            throw error
        }
        try await update.commit()
    }

    private static func manyCases(_ path: String) -> NetworkError {
        NetworkError(
            .badConfiguration,
            during: .build,
            "a test with arguments cannot record \(path): each case would replace the recording of the others",
            advice: "record it with a test without arguments"
        )
    }

    private var existing: String? {
        Self.fileExtensions.map { path + $0 }.first { FileManager.default.fileExists(atPath: $0) }
    }

    private func recording() throws(NetworkError) -> Recording {
        if let existing { return try Recording(contentsOf: existing) }
        throw NetworkError(
            .file,
            during: .build,
            "there is no recording \(path) (\(Self.fileExtensions.joined(separator: ", ")))",
            advice: "run the test with BEAGLENET_RECORD=1 to record it"
        )
    }
}

extension Trait where Self == RecordingTrait {
    /// Replays a recording to the test's requests, offline.
    ///
    /// - Parameters:
    ///   - name: The name of the recording: `Recordings/NAME.bglog`, or `.har`, `.har.gz`, `.zhar`, beside the test's
    ///     file.
    ///   - matching: The rules that decide whether two requests match.
    ///   - allowsUnused: Whether the test may leave entries unused. By default it fails.
    ///   - file: The test's file.
    ///   - environment: The environment variables, which decide whether to record; those of the process by default.
    ///   - change: Changes the test's dependencies, for example the builder's base URL.
    public static func recording(
        _ name: String,
        matching: [ReplayTransport.MatchRule] = .standard,
        allowsUnused: Bool = false,
        file: String = #filePath,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        _ change: @escaping @Sendable (BeagleDependencies) throws -> Void = { _ in }
    ) -> Self {
        let directory = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return RecordingTrait(
            path: "\(directory)/Recordings/\(name)",
            matching: matching,
            allowsUnused: allowsUnused,
            recordsAgain: !["", "0"].contains(environment["BEAGLENET_RECORD"] ?? ""),
            change: change
        )
    }
}
