import BeagleNet
import BeagleNetReplay
import Foundation

/// The cost of recording a small request, in CPU of all threads: a client over a transport that responds immediately,
/// with and without a log, in turn.
@main struct BenchRecording {
    private static let requests = 20_000
    private static let rounds = 5
    /// The number of requests in a round: the log has room for all of them, because dropped records cost nothing.
    private static let batch = 500

    static func main() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).bglog").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let log = try RequestLog(directory: directory)
        let (plain, recorded) = (try client(nil), try client(log))
        // For a profiler: this many requests of a kind, and nothing else.
        if let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) {
            return try await run(CommandLine.arguments.contains("--plain") ? plain : recorded, log, count)
        }
        for client in [plain, recorded] { try await run(client, log) }
        var (without, with): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            without.append(try await micros { try await run(plain, log) })
            with.append(try await micros { try await run(recorded, log) })
        }
        let (base, cost) = (median(without), median(with))
        print("without a log  \(text(base)) us")
        print("with a log     \(text(cost)) us")
        print("recording      \(text(cost - base)) us")
        let start = ContinuousClock.now
        let entries = try RequestLog.Reader(directory: directory).entries()
        let opened = start.duration(to: .now)
        let count = entries.reduce(0) { count, _ in count + 1 }
        print(
            "opened         \(count) entries in \(opened), read in \(start.duration(to: .now)), \(entries.skipped) skipped"
        )
        withExtendedLifetime((log, plain, recorded)) {}
    }

    private static func client(_ log: RequestLog?) throws -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = .off
        dependencies.requestLog = log
        // The client doesn't retain its container, so the transport does.
        return NetworkClientDefault(dependencies: dependencies, transport: InstantTransport(dependencies))
    }

    private static func run(_ client: NetworkClientDefault, _ log: RequestLog, _ requests: Int = requests) async throws
    {
        guard let url = URL(string: "https://api.example.com/screens/home?page=1") else { return }
        let data = Request.RequestData(headers: ["Accept": "application/json", "Authorization": "Bearer abcdefgh"])
        let request = Request(url: url, type: .rawRequest(data))
        for _ in 0..<(requests / batch) {
            for _ in 0..<batch { _ = try await client.executeRequest(request) }
            await log.flush()
        }
    }

    private static func micros(_ work: () async throws -> Void) async rethrows -> Double {
        let start = cpu()
        try await work()
        return (cpu() - start) * 1e6 / Double(requests)
    }

    /// The CPU time of all threads in user and kernel mode, in seconds.
    private static func cpu() -> Double {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }

    private static func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }

    private static func text(_ number: Double) -> String { String(format: "%.1f", number) }
}

/// Responds immediately with 1 KiB of JSON and the usual fields.
private final class InstantTransport: HTTPTransport {
    private let dependencies: BeagleDependencies
    private let body = Data(
        "{\"items\":[\(Array(repeating: "{\"id\":17,\"title\":\"Home\"}", count: 40).joined(separator: ","))]}".utf8
    )
    private let head = HTTPResponse(
        status: .ok,
        headerFields: [
            .contentType: "application/json", .contentLength: "1011", .date: "Sun, 22 Nov 2026 08:15:30 GMT",
            .server: "nginx", .cacheControl: "no-store",
        ]
    )

    init(_ dependencies: BeagleDependencies) {
        self.dependencies = dependencies
    }

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        var metrics = TransferMetrics()
        metrics.isConnectionReused = true
        metrics.requestStart = .microseconds(10)
        metrics.requestEnd = .microseconds(10)
        metrics.firstByte = .microseconds(300)
        metrics.total = .microseconds(310)
        metrics.protocolName = "HTTP/1.1"
        metrics.remoteAddress = "192.0.2.1:443"
        completion(.success(TransferResponse(head: head, body: HTTPBody(body), url: "", metrics: metrics)))
        return NoToken()
    }
}

private struct NoToken: RequestToken {
    func cancel() {}
}
