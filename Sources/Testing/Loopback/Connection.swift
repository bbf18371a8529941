import BeagleNetHTTP

/// A connection of a server, which reads requests and plays their answers on its own thread.
struct Connection {
    let number: Int
    let socket: Socket
    let stage: ServerState
    private var unread: [UInt8] = []

    init(number: Int, socket: Socket, stage: ServerState) {
        self.number = number
        self.socket = socket
        self.stage = stage
    }

    mutating func run() {
        if let greeting = stage.onConnect, !play(greeting, method: nil) { return }
        do throws(Malformed) {
            while let request = try readRequest() {
                stage.journal.record { record in
                    record.requestCount += 1
                    record.requests.append(request)
                    if record.requests.count > 1000 { record.requests.removeFirst() }
                }
                let isOpen = play(stage.answer(request), method: request.method)
                if !isOpen || request.isLast { return }
            }
        } catch {
            _ = play(.response(400, ["Connection": "close"]), method: nil)
        }
    }
}

/// The error of a request whose end can't be determined.
private struct Malformed: Error {}

// MARK: - Reading

extension Connection {
    /// A limit that is larger than any test needs and can't cause an overflow.
    static let maxBytes = 1 << 30

    private mutating func readRequest() throws(Malformed) -> LoopbackServer.Request? {
        guard let head = readHead() else { return nil }
        var request = LoopbackServer.Request(connection: number, head: head)
        guard stage.readsBodies else { return request }
        let read =
            request.isChunked
            ? try readChunks(into: &request.raw)
            : take(try size(request["Content-Length"] ?? "0", radix: 10))
        guard let body = read else { return nil }
        if !request.isChunked { request.raw.append(contentsOf: body) }
        request.body = Data(body)
        return request
    }

    private mutating func readHead() -> [UInt8]? {
        var searched = 0
        while true {
            if let end = unread.end(of: [13, 10, 13, 10], from: searched) { return take(end) }
            searched = max(0, unread.count - 3)
            if !fill() { return nil }
        }
    }

    private mutating func readLine() -> [UInt8]? {
        while true {
            if let end = unread.end(of: [13, 10], from: 0) { return take(end) }
            if !fill() { return nil }
        }
    }

    private mutating func readChunks(into raw: inout Data) throws(Malformed) -> [UInt8]? {
        var body: [UInt8] = []
        while let line = readLine() {
            raw.append(contentsOf: line)
            let digits = String(decoding: line.prefix { $0 != 13 && $0 != 59 }, as: UTF8.self)
            let size = try size(digits, radix: 16)
            guard let chunk = take(size + 2) else { return nil }
            raw.append(contentsOf: chunk)
            if size == 0 { return body }
            body += chunk.dropLast(2)
        }
        return nil
    }

    private func size(_ digits: String, radix: Int) throws(Malformed) -> Int {
        guard digits.allSatisfy(\.isHexDigit), let size = Int(digits, radix: radix), size <= Self.maxBytes else {
            throw Malformed()
        }
        return size
    }

    /// Waits for the next bytes and returns them, or returns `nil` if the connection ends before.
    mutating func take(_ count: Int) -> [UInt8]? {
        while unread.count < count {
            if !fill() { return nil }
        }
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    /// Waits for bytes and reads them, or returns `false` at the end of the connection or when the server stops.
    private mutating func fill() -> Bool {
        guard Poll.wait(for: .input, on: socket, or: stage.stopping) == .ready else { return false }
        let before = unread.count
        let isOpen = socket.receive(into: &unread)
        stage.journal.record { $0.bytesReceived += unread.count - before }
        return isOpen
    }
}

// MARK: - Answering

extension Connection {
    /// Plays an answer, or returns `false` if it ended the connection.
    private mutating func play(_ answer: LoopbackServer.Response, method: String?) -> Bool {
        for step in answer.steps {
            guard play(step, method: method) else { return false }
        }
        stage.journal.record { $0.responses += 1 }
        return true
    }

    mutating func play(_ step: LoopbackServer.Response.Step, method: String?) -> Bool {
        switch step {
        case .response(let status, let fields, let body):
            return send(
                LoopbackServer.Response.Step.message(status: status, fields: fields, body: body, method: method)
            )
        case .bytes(let bytes):
            return send(bytes)
        case .dribble(let bytes, let pause):
            return bytes.allSatisfy { byte in
                send(Data([byte])) && Poll.wait(for: .hangUp, on: socket, or: stage.stopping, at: pause) == .timedOut
            }
        case .endless(let bytes):
            while send(bytes) {}
            return false
        case .wait(let gate):
            return wait(for: gate.latch)
        case .finish:
            socket.finish()
            return true
        case .stall:
            while fill() { unread = [] }
            return false
        case .close:
            return false
        case .reset:
            socket.resetOnClose()
            return false
        case .played(let play):
            return play(&self)
        }
    }

    private func wait(for gate: Latch) -> Bool {
        Poll.wait(for: .hangUp, on: socket, or: stage.stopping, orUntil: gate) == .passed
    }

    /// Waits for the result of a task.
    ///
    /// - Returns: The result, or `nil` if the task failed or was cancelled because the client disconnected or the
    ///   server stopped.
    func outcome<R: Sendable>(of work: @escaping @Sendable () async throws -> R) -> R? {
        guard let done = latch() else { return nil }
        let result = Lock<R?>(nil)
        let task = Task(executorPreference: ServerExecutor.shared) {
            defer { done.open() }
            let value = try await work()
            result.withLock { $0 = value }
        }
        guard wait(for: done) else {
            task.cancel()
            return nil
        }
        return result.withLock { $0 }
    }

    /// Creates a latch, or returns `nil` if no file descriptors are available.
    private func latch() -> Latch? {
        do throws(NetworkError) {
            return try Latch()
        } catch {
            return nil
        }
    }

    func send(_ bytes: Data) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let count = socket.send(rest) else { return false }
            stage.journal.record { $0.bytesSent += count }
            rest = rest.dropFirst(count)
            if !rest.isEmpty && !waitForRoom() { return false }
        }
        return true
    }

    private func waitForRoom() -> Bool {
        var event = Poll.wait(for: .output, on: socket, or: stage.stopping, at: .milliseconds(250))
        if event == .timedOut {
            stage.journal.record { $0.stalledSends += 1 }
            event = Poll.wait(for: .output, on: socket, or: stage.stopping)
        }
        return event == .ready
    }
}

extension [UInt8] {
    /// Returns the index after the first occurrence of `mark`.
    fileprivate func end(of mark: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + mark.count <= count {
            if self[index..<(index + mark.count)].elementsEqual(mark) { return index + mark.count }
            index += 1
        }
        return nil
    }
}
