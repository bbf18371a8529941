public import BeagleNetHTTP

/// A scripted HTTP/1.1 server on 127.0.0.1 for tests with real sockets.
///
/// A closure receives each request and returns what to send. It can also stall, truncate, reset and send invalid data.
/// ```swift
/// let server = try LoopbackServer { request in
///     request.target == "/slow" ? .stall : .response(200, ["Content-Type": "text/plain"], "hello")
/// }
/// ```
/// Each connection has its own thread. `stop()`, which `deinit` calls, ends and joins them all.
public final class LoopbackServer: Sendable {
    /// The port, chosen by the system.
    public let port: UInt16

    private let stage: ServerState
    private let listener: Worker

    /// Creates a server that listens until `stop()`.
    ///
    /// - Parameters:
    ///   - onConnect: An answer to play when a connection is accepted, before anything is read from it.
    ///   - readsBodies: Whether the body of a request is read before the response is sent. Otherwise `Request.body` is
    ///     empty and the bytes stay unread, as with a server that rejects an upload halfway. If it is `true`, a body of
    ///     unknown length or above 1 GiB gets a 400 response, and the connection is closed.
    ///   - answer: Returns the answer to a request. It is called on the connection's thread, so it may block.
    /// - Throws: `NetworkError` of kind `.connect` if no port is available.
    public init(
        onConnect: Response? = nil,
        readsBodies: Bool = true,
        answer: @escaping @Sendable (Request) -> Response
    ) throws(NetworkError) {
        let socket = try Socket.listening()
        port = socket.localPort
        let stage = try ServerState(onConnect: onConnect, readsBodies: readsBodies, answer: answer)
        self.stage = stage
        listener = Worker { Self.accept(from: socket, on: stage) }
    }

    /// Creates a server that listens and sends the same answer to every request.
    ///
    /// - Parameter answer: The answer.
    /// - Throws: `NetworkError` of kind `.connect` if no port is available.
    public convenience init(_ answer: Response) throws(NetworkError) {
        try self.init { _ in answer }
    }

    deinit {
        stop()
    }

    /// Closes all connections and returns when all threads have ended; further calls do nothing.
    ///
    /// Don't call it from the `answer` closure, because it would wait for itself.
    public func stop() {
        stage.stopping.open()
        listener.join()
    }

    /// The URL of the server, `http://127.0.0.1:PORT`, without a path.
    public var url: String { "http://\(authority)" }

    /// The authority of the server, `127.0.0.1:PORT`.
    public var authority: String { "127.0.0.1:\(port)" }

    /// The record of all events so far.
    public var record: Record { stage.journal.record }

    /// The last 1,000 requests received, oldest first.
    public var requests: [Request] { record.requests }

    /// Waits until the record fulfills a condition.
    ///
    /// - Parameter condition: Called immediately and after every event; it must return quickly.
    /// - Returns: Whether the condition was fulfilled, or `false` if the task was cancelled or the server stopped
    ///   before.
    @discardableResult
    public func until(_ condition: @escaping @Sendable (Record) -> Bool) async -> Bool {
        await stage.journal.until(condition)
    }

    private static func accept(from listener: Socket, on stage: ServerState) {
        var connections: [Int: Worker] = [:]
        while Poll.wait(for: .input, on: listener, or: stage.stopping) == .ready {
            for number in stage.journal.takeEnded() { connections.removeValue(forKey: number)?.join() }
            guard let socket = listener.accept() else { continue }
            let number = stage.journal.begin()
            connections[number] = Worker {
                var connection = Connection(number: number, socket: socket, stage: stage)
                connection.run()
                socket.close()
                stage.journal.end(number)
            }
        }
        listener.close()
        for connection in connections.values { connection.join() }
        stage.journal.close()
    }
}

/// The state that a server's threads share; they don't retain the server, so that its `deinit` can stop them.
struct ServerState: Sendable {
    let onConnect: LoopbackServer.Response?
    let readsBodies: Bool
    let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    let journal = Journal()
    let stopping: Latch

    init(
        onConnect: LoopbackServer.Response?,
        readsBodies: Bool,
        answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) throws(NetworkError) {
        self.onConnect = onConnect
        self.readsBodies = readsBodies
        self.answer = answer
        stopping = try Latch()
    }
}
