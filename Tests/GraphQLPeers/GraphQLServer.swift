package import BeagleNetGraphQL
import Foundation
import TestPrograms

/// The GraphQL servers of `graphql_server.py`, which lists their paths. The first test that needs them starts one process
/// for all tests. The process ends with the tests, however they end, because its input closes then.
package final class GraphQLServer: Sendable {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    /// The Python interpreter that `scripts/setup.sh --peers` installs.
    private static let python = folder.appending(path: "../../.build/python").standardizedFileURL.path

    /// Whether `scripts/setup.sh --peers` has installed the servers:
    /// `.enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)")`.
    package static let isAvailable =
        (try? FileManager.default.contentsOfDirectory(atPath: "\(python)/lib"))?
        .contains { FileManager.default.fileExists(atPath: "\(python)/lib/\($0)/site-packages/strawberry") } == true

    package static let advice = "Strawberry is not installed: scripts/setup.sh --peers"

    private static let starting = Task { try await GraphQLServer() }

    /// The server shared by all tests. Waits until it listens.
    package static var shared: GraphQLServer {
        get async throws { try await starting.value }
    }

    package let port: Int
    private let input: FileHandle

    private init() async throws {
        let (stdin, stdout) = (try Program.pipe(), try Program.pipe())
        _ = try Program(
            "\(Self.python)/bin/python3",
            ["-B", Self.folder.appending(path: "graphql_server.py").path],
            input: stdin.reader,
            output: stdout.writer
        )
        for end in [stdin.reader, stdout.writer] { try end.close() }
        input = stdin.writer
        port = try await Self.port(printedTo: stdout.reader)
    }

    /// Reads the port from the only line of output.
    private static func port(printedTo output: FileHandle) async throws -> Int {
        let line = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = ""
                while !text.hasSuffix("\n"), let bytes = try? output.read(upToCount: 1), !bytes.isEmpty {
                    text += String(decoding: bytes, as: UTF8.self)
                }
                continuation.resume(returning: text)
            }
        }
        guard let port = line.split(whereSeparator: \.isWhitespace).last.flatMap({ Int($0) }) else {
            throw NetworkError(.other, during: .connect, "the GraphQL server ended before it listened")
        }
        return port
    }

    /// Returns the URL of a path such as `/graphql`, which may include a query.
    package func url(_ path: String, scheme: String = "http") throws -> URL {
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)\(path)") else {
            throw NetworkError(.badURL, during: .build, "\(path) is not a valid path")
        }
        return url
    }

    /// Returns the log of requests with this `X-Test` field: `requests`, each with `method`, `path`, `query`, `headers`,
    /// `body` and the `messages` of a WebSocket, and `events` such as `count ended`.
    package func log(of test: String) async throws -> JSONValue {
        let client = NetworkClientDefault(dependencies: BeagleDependencies())
        let request = Request(url: try url("/log?test=\(test)"), type: .rawRequest(Request.RequestData()))
        return try JSONValue(parsing: try await client.executeRequest(request).data)
    }

    /// Waits for an event of a request with this `X-Test` field.
    package func event(_ name: String, of test: String) async throws {
        while try await log(of: test)["events"]?.array?.contains(where: { $0["event"]?.string == name }) != true {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
