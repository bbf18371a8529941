public import BeagleNetHTTP

/// A scripted HTTP/1.1 server on 127.0.0.1 that can also stall, cut off, reset and lie.
///
/// It is for tests that want real sockets: a closure gets each request and says what goes over the wire.
/// ```swift
/// let server = try LoopbackServer { request in
///     request.target == "/slow" ? .stall : .response(200, ["Content-Type": "text/plain"], "hello")
/// }
/// ```
/// Every connection has a thread of its own. `stop()`, which `deinit` calls, ends and joins them all.
public final class LoopbackServer: Sendable {
    /// The port listened on, chosen by the system.
    public let port: UInt16

    private let stage: Stage
    private let listener: Worker

    /// Listens and answers until `stop()`.
    ///
    /// - Parameters:
    ///   - onConnect: played when a connection is accepted, before anything is read from it.
    ///   - readsBodies: whether a request's body is read before it is answered. Without it `Request.body` is empty
    ///     and the bytes stay unread, as from a server that refuses an upload half-way.
    ///     With it, a body whose length cannot be told or is above 1 GiB is answered with 400 and the end of the
    ///     connection.
    ///   - answer: says what a request is answered with; called on the connection's thread, so it may block.
    /// - Throws: `NetworkError` of kind `.connect` when the system gives no port.
    public init(
        onConnect: Answer? = nil,
        readsBodies: Bool = true,
        answer: @escaping @Sendable (Request) -> Answer
    ) throws(NetworkError) {
        let socket = try Socket.listening()
        port = socket.localPort
        let stage = try Stage(onConnect: onConnect, readsBodies: readsBodies, answer: answer)
        self.stage = stage
        listener = Worker { Self.accept(from: socket, on: stage) }
    }

    /// Listens and gives every request the same answer.
    ///
    /// - Parameter answer: what goes over the wire.
    /// - Throws: `NetworkError` of kind `.connect` when the system gives no port.
    public convenience init(_ answer: Answer) throws(NetworkError) {
        try self.init { _ in answer }
    }

    deinit {
        stop()
    }

    /// Closes every connection and returns when all threads have ended. A second call does nothing.
    ///
    /// Not to be called from the `answer` closure, which it would wait for.
    public func stop() {
        stage.stopping.open()
        listener.join()
    }

    /// `http://127.0.0.1:PORT`, without a path.
    public var url: String { "http://\(authority)" }

    /// `127.0.0.1:PORT`.
    public var authority: String { "127.0.0.1:\(port)" }

    /// What has happened so far.
    public var record: Record { stage.journal.record }

    /// The requests read so far, oldest first; the last 1,000 of them.
    public var requests: [Request] { record.requests }

    /// Waits until what has happened fulfils a condition.
    ///
    /// - Parameter condition: asked now and after every event; it must be quick.
    /// - Returns: whether the condition was fulfilled; false when the task was cancelled or the server stopped before.
    @discardableResult
    public func until(_ condition: @escaping @Sendable (Record) -> Bool) async -> Bool {
        await stage.journal.until(condition)
    }

    private static func accept(from listener: Socket, on stage: Stage) {
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

/// What the threads of one server share. They hold this and not the server, so that its `deinit` can stop them.
struct Stage: Sendable {
    let onConnect: LoopbackServer.Answer?
    let readsBodies: Bool
    let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer
    let journal = Journal()
    let stopping: Latch

    init(
        onConnect: LoopbackServer.Answer?,
        readsBodies: Bool,
        answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer
    ) throws(NetworkError) {
        self.onConnect = onConnect
        self.readsBodies = readsBodies
        self.answer = answer
        stopping = try Latch()
    }
}
