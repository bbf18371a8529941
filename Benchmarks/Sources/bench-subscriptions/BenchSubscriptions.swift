import BeagleNetCurl
import BeagleNetGraphQL
import Foundation

/// Reads many results of one subscription over each transport, or holds many silent subscriptions. The server is
/// `Benchmarks/subscriptions`, which starts this.
///
/// `bench-subscriptions VARIANT PORT COUNT` prints what `subscriptions` reads: `events`, `wall` and `cpu` in seconds,
/// and `bytes` that became resident.
@main
struct BenchSubscriptions {
    static func main() async throws {
        // Runs in a detached task, so that results don't pass through the main thread.
        try await Task.detached { try await run() }.value
    }

    private static func run() async throws {
        let words = CommandLine.arguments
        guard words.count == 4, let port = Int(words[2]), let count = Int(words[3]) else {
            print("usage: bench-subscriptions VARIANT PORT COUNT")
            exit(64)
        }
        switch words[1] {
        case "recv": try report(count) { try receive(count, from: port) }
        case "websocket": try await report(count) { try await readWebSocket(count, at: port) }
        case "client": try await report(count) { try await read(count, at: port) }
        case "typed": try await report(count) { try await readTyped(count, at: port) }
        case "many-client": try await report(count) { try await readMany(at: port) }
        case "idle-client": try await hold(count, at: port)
        #if SOCKET
            case "socket": try await report(count) { try await readSocket(count, at: port) }
            case "many-socket": try await report(count) { try await readManyOfSocket(at: port) }
            case "idle-socket": try await holdSocket(count, at: port, inTasks: false)
            case "idle-carrier": try await holdSocket(count, at: port, inTasks: true)
        #endif
        default: exit(64)
        }
    }

    // MARK: - A flood

    nonisolated(nonsending) private static func report(_ count: Int, _ body: () async throws -> Int) async throws {
        let (wall, cpu) = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID))
        let events = try await body()
        print("events \(events) wall \(seconds(CLOCK_MONOTONIC) - wall) cpu \(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu)")
        if events != count { exit(1) }
    }

    private static func report(_ count: Int, _ body: () throws -> Int) throws {
        let (wall, cpu) = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID))
        let events = try body()
        print("events \(events) wall \(seconds(CLOCK_MONOTONIC) - wall) cpu \(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu)")
        if events != count { exit(1) }
    }

    /// The cost of the system alone: bytes are received, and frames counted.
    private static func receive(_ count: Int, from port: Int) throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return 0 }
        let request = "GET /raw HTTP/1.1\r\nHost: localhost\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        _ = request.utf8CString.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count - 1, 0) }
        return withUnsafeTemporaryAllocation(byteCount: 128 << 10, alignment: 1) { buffer in
            var events = 0
            while true {
                let received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if received <= 0 { break }
                // 0x81 begins each frame. The server sends it nowhere else.
                for byte in buffer[..<received] where byte == 0x81 { events += 1 }
            }
            close(descriptor)
            return events
        }
    }

    /// The messages of the WebSocket, without parsing.
    private static func readWebSocket(_ count: Int, at port: Int) async throws -> Int {
        let head = HTTPRequest(method: .get, scheme: "ws", authority: "127.0.0.1:\(port)", path: "/raw")
        let transport = CurlTransport()
        let webSocket = try await transport.openWebSocket(WebSocket.Request(head))
        var events = 0
        for try await _ in webSocket.messages {
            events += 1
            if events == count { break }
        }
        return events
    }

    /// The whole client, with results as JSON.
    private static func read(_ count: Int, at port: Int) async throws -> Int {
        var events = 0
        for try await result in try client().subscribe(to: request(1), at: endpoint(port), buffering: .failing(.max)) {
            if result.data != nil { events += 1 }
        }
        return events
    }

    /// The whole client, with results as decoded values.
    private static func readTyped(_ count: Int, at port: Int) async throws -> Int {
        let operation = GraphQLOperation<NoInput, Tick>(
            input: NoInput(),
            operationString: "subscription Ticks { tick { number price symbol } }"
        )
        var events = 0
        for try await result in try client().subscribe(to: operation, at: endpoint(port), buffering: .failing(.max)) {
            if result.data != nil { events += 1 }
        }
        return events
    }

    /// The server's number of subscriptions (`MANY`), each with a task that reads its results.
    static let many = 10_000

    private static func readMany(at port: Int) async throws -> Int {
        let (client, endpoint) = (client(), endpoint(port))
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<many {
                let subscription = try client.subscribe(to: request(number), at: endpoint, buffering: .failing(.max))
                group.addTask {
                    var events = 0
                    for try await result in subscription where result.data != nil { events += 1 }
                    return events
                }
            }
            return try await group.reduce(0, +)
        }
    }

    // MARK: - Silent subscriptions

    private static func hold(_ count: Int, at port: Int) async throws {
        let (client, endpoint) = (client(), endpoint(port))
        try await reportBytes(count) { number, opened in
            let events = try client.subscribe(to: request(number), at: endpoint).events
            let task = Task {
                for try await event in events {
                    if case .open = event { opened() }
                }
            }
            return { task.cancel() }
        }
    }

    /// - Parameter begin: A function that begins a subscription, calls its second parameter when it is open, and
    ///   returns a function that ends it.
    static func reportBytes(
        _ count: Int,
        _ begin: (Int, @escaping @Sendable () -> Void) throws -> () -> Void
    ) async throws {
        var ends: [() -> Void] = []
        ends.reserveCapacity(count + 1)
        let (opens, continuation) = AsyncStream.makeStream(of: Void.self)
        var opened = opens.makeAsyncIterator()
        // The connection, threads and other things that are created once.
        ends.append(try begin(0) { continuation.yield() })
        await opened.next()
        let before = residentBytes()
        for number in 1...count { ends.append(try begin(number) { continuation.yield() }) }
        for _ in 0..<count { await opened.next() }
        print("events \(count) bytes \(residentBytes() - before)")
        for end in ends { end() }
    }

    // MARK: -

    static func client() -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        return NetworkClientDefault(dependencies: dependencies)
    }

    static func endpoint(_ port: Int) -> GraphQLEndpoint {
        var endpoint = GraphQLEndpoint("http://127.0.0.1:\(port)/graphql")
        endpoint.subscriptions = [.webSocket()]
        return endpoint
    }

    static func request(_ number: Int) -> GraphQLRequest {
        GraphQLRequest(
            query: "subscription Ticks { tick { number price symbol } }",
            kind: .subscription,
            variables: Data(#"{"number":\#(number)}"#.utf8)
        )
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }

    private static func residentBytes() -> Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return words.count > 1 ? (Int(words[1]) ?? 0) * 4096 : 0
    }
}

private struct NoInput: Encodable, Sendable {}

private struct Tick: Decodable, Sendable {
    let number: Int
    let price: Double
    let symbol: String
}
