import BeagleNetCurl
import BeagleNetHTTP
import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A program for tests that need a separate process.
///
/// With a server's authority, it sends a request, forks, and sends requests with the same transport from the child and
/// then from the parent. Then it forks children that release the parent's WebSocket and a body that it reads. It exits
/// with 0 if each received a response and the parent was not affected. With `--look-up` and a host name, it prints how
/// requests end that `TransferOptions.Timeouts.resolve`, `connect` and `total` limit.
@main
struct ForkProbe {
    static func main() {
        if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--look-up" {
            return lookUp(CommandLine.arguments[2])
        }
        guard CommandLine.arguments.count == 2 else { exit(64) }
        let authority = CommandLine.arguments[1]
        let transport = CurlTransport()
        guard ask(authority, "/parent", transport) else { exit(1) }
        guard isFine({ ask(authority, "/child", transport) }) else { exit(4) }
        var socket = open(authority, transport)
        guard socket != nil, isFine({ leavesTheParentAlone(&socket) }) else { exit(6) }
        var body = stream(authority, transport)
        guard body != nil, isFine({ leavesTheBodyAlone(&body) }) else { exit(8) }
        guard ask(authority, "/parent-again", transport) else { exit(5) }
        let rest = body.flatMap { body in wait { try await body.collect(upTo: 100) } }
        guard rest.map({ String(decoding: $0, as: UTF8.self) }) == "b" else { exit(9) }
        exit(socket.flatMap(next) == .text("a") ? 0 : 7)
    }

    /// Whether a test passes in a child. If a child hangs, another one is forked: a lock of Swift's runtime that a
    /// thread of the parent holds during the fork stays locked in the child.
    private static func isFine(_ test: () -> Bool) -> Bool {
        for _ in 0..<3 {
            let status = status(ofChild: test)
            if status != SIGALRM { return status == 0 }
            print("ForkProbe: a child was forked at a bad moment")
        }
        return false
    }

    /// The wait status of a child: 0 if the test passes, `SIGALRM` if it hangs.
    private static func status(ofChild test: () -> Bool) -> Int32 {
        // Swift hides `fork` because a child can only use functions that work with a single thread.
        guard let symbol = dlsym(nil, "fork") else { exit(2) }
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)
        let child = fork()
        if child == 0 {
            // The parent process may have blocked or ignored SIGALRM.
            var alarms = sigset_t()
            sigemptyset(&alarms)
            sigaddset(&alarms, SIGALRM)
            sigprocmask(SIG_UNBLOCK, &alarms, nil)
            signal(SIGALRM, SIG_DFL)
            alarm(10)
            _exit(test() ? 0 : 3)
        }
        var status: Int32 = -1
        guard child > 0, waitpid(child, &status, 0) == child else { return -1 }
        return status
    }

    /// Whether no event loop of the parent wakes when the child releases its WebSocket.
    private static func leavesTheParentAlone(_ socket: inout WebSocket?) -> Bool {
        weak let inherited = socket
        let before = wakes
        socket = nil
        return inherited == nil && wakes == before
    }

    /// Whether no event loop of the parent wakes when the child releases the body.
    private static func leavesTheBodyAlone(_ body: inout HTTPBody?) -> Bool {
        let before = wakes
        body = nil
        return wakes == before
    }

    /// The eventfd counters of the inherited event loops, which increase with each wake-up. Linux only.
    private static var wakes: [Int] {
        (0..<256).compactMap { descriptor in
            guard let file = fopen("/proc/self/fdinfo/\(descriptor)", "r") else { return nil }
            defer { fclose(file) }
            let line = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
            defer { line.deallocate() }
            while fgets(line, 256, file) != nil {
                let words = String(cString: line).split(whereSeparator: \.isWhitespace)
                if words.first == "eventfd-count:", let count = words.last { return Int(count, radix: 16) }
            }
            return nil
        }
    }

    private static func open(_ authority: String, _ transport: CurlTransport) -> WebSocket? {
        let head = HTTPRequest(method: .get, scheme: "ws", authority: authority, path: "/talk")
        return wait { try await transport.openWebSocket(WebSocket.Request(head)) }
    }

    private static func stream(_ authority: String, _ transport: CurlTransport) -> HTTPBody? {
        let head = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/body")
        return wait { try await transport.perform(TransferRequest(head, delivery: .stream)).body }
    }

    private static func next(of socket: WebSocket) -> WebSocket.Message? {
        wait {
            var messages = socket.messages.makeAsyncIterator()
            return try await messages.next()
        }
    }

    /// Waits for the value of a task; `nil` if the task throws.
    private static func wait<Value: Sendable>(for task: @escaping @Sendable () async throws -> Value?) -> Value? {
        let ended = DispatchSemaphore(value: 0)
        let value = Lock<Value?>(nil)
        Task {
            do {
                let given = try await task()
                value.withLock { $0 = given }
            } catch {
                print("ForkProbe: \(error)")
            }
            ended.signal()
        }
        ended.wait()
        return value.withLock { value in
            defer { value = nil }
            return value
        }
    }

    private static func lookUp(_ host: String) {
        let transport = CurlTransport()
        let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
        let limits = [
            TransferOptions.Timeouts(resolve: .milliseconds(100), connect: nil, total: .seconds(20)),
            TransferOptions.Timeouts(connect: .milliseconds(100)),
            TransferOptions.Timeouts(connect: nil, total: .milliseconds(100)),
        ]
        for limit in limits {
            let ended = DispatchSemaphore(value: 0)
            transport.perform(TransferRequest(head, options: TransferOptions(timeouts: limit))) { result in
                switch result {
                case .success(let response): print(response.status.code)
                case .failure(let error): print(error.kind.rawValue, error.phase.rawValue, error.advice ?? "")
                }
                ended.signal()
            }
            ended.wait()
        }
    }

    private static func ask(_ authority: String, _ path: String, _ transport: CurlTransport) -> Bool {
        let answered = DispatchSemaphore(value: 0)
        let isFine = Lock(false)
        let head = HTTPRequest(method: .get, scheme: "http", authority: authority, path: path)
        _ = transport.perform(TransferRequest(head)) { result in
            if case .success(let response) = result { isFine.withLock { $0 = response.status.code == 200 } }
            answered.signal()
        }
        answered.wait()
        return isFine.withLock { $0 }
    }
}
