import ArgumentParser
import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetRequestBuilder
import Foundation

/// The `beagle ws` command, which sends lines as messages and writes received messages.
struct WebSocketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ws",
        abstract: "Send and receive WebSocket messages.",
        discussion: """
            Sends each line of standard input as a message, and writes each received message as a line of standard \
            output; the bytes of binary messages are written unchanged. The command ends after --count messages. \
            Without --count, it ends when the server closes the connection, or when standard input has ended and no \
            message has arrived for one second.

            EXAMPLE
              echo hello | beagle ws ws://127.0.0.1:8080/ws --count 1
            """
    )

    @OptionGroup var address: Address

    @Option(name: .long, help: ArgumentHelp("Exit after this many messages.", valueName: "n"))
    var count: Int?

    @Flag(name: .long, help: "Send binary messages.")
    var binary = false

    @Option(
        name: .long,
        help: ArgumentHelp("Subprotocol to offer. Repeatable, in order of preference.", valueName: "name")
    )
    var subprotocol: [String] = []

    @OptionGroup var basic: BasicFlags
    @OptionGroup var replay: ReplayFlags

    var flags: CommonFlags { CommonFlags(basic, replay: replay) }

    func validate() throws {
        if let count, count < 1 { throw ValidationError("'--count' must be greater than 0.") }
    }

    func run() async throws {
        let session = WebSocketCommandSession(self)
        do {
            try await Interrupt.cancelling { try await session.run() }
            if flags.json {
                session.console.line("\(CommandResult(json: session.json).envelope(timing: session.timing))")
            }
        } catch {
            var failure = flags.failure(for: error)
            if let error = error as? NetworkError {
                failure.message.replace("WebSocket.Request.subprotocols", with: "--subprotocol")
                failure.advice = advice(for: error)
            }
            if flags.json {
                session.console.line("\(failure.envelope(timing: session.timing))")
            } else {
                session.console.note(failure)
            }
            throw ExitCode(failure.exit)
        }
    }

    private func advice(for error: NetworkError) -> String? {
        if error.kind == .tooLarge { return "increase --max-filesize" }
        // The timeouts for a pong and for closing have no option.
        if error.advice?.contains("WebSocket.Request.") == true { return nil }
        let advice = flags.advice(for: error)
        guard [.badURL, .unsupportedScheme].contains(error.kind) else { return advice }
        return advice?.replacing("http or https", with: "ws or wss").replacing("http://", with: "ws://")
    }

    /// Returns the request. `http` and `https` are replaced with `ws` and `wss`.
    func request() throws -> WebSocket.Request {
        var address = address
        address.url = Self.asHTTP(address.url)
        address.base = address.base.map(Self.asHTTP)
        var head = try address.build(.rawRequest(.init(method: "GET"))).head
        head.scheme = head.scheme == "https" ? "wss" : "ws"
        flags.apply(to: &head)
        var request = WebSocket.Request(head, subprotocols: subprotocol, options: try flags.options())
        if let maxFilesize = flags.maxFilesize { request.maxMessageBytes = maxFilesize.bytes }
        return request
    }

    static func asHTTP(_ url: String) -> String {
        url.lowercased().hasPrefix("ws") && url.contains("://") ? "http" + url.dropFirst(2) : url
    }
}

/// A WebSocket session of `beagle ws`.
private final class WebSocketCommandSession: Sendable {
    private struct State {
        var received = 0
        var subprotocol: String?
        var messages: [JSONValue] = []
        var close: WebSocket.Close?
    }

    let console: Console
    private let command: WebSocketCommand
    private let start = ContinuousClock.now
    private let state = Lock(State())

    init(_ command: WebSocketCommand) {
        self.command = command
        console = Console(command.flags.color)
    }

    /// Runs until the session ends, or for at most `--max-time`.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.exchangeMessages() }
            if let seconds = command.flags.maxTime {
                group.addTask {
                    try await Task.sleep(for: .seconds(seconds))
                    throw NetworkError(
                        .timeout,
                        during: .body,
                        "the conversation took longer than \(Duration.seconds(seconds))",
                        advice: "allow more time with --max-time"
                    )
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func exchangeMessages() async throws {
        let request = try command.request()
        if command.flags.verbose {
            console.note("> GET \(Redactor().redact(url: request.head.urlText))")
            for (name, value) in Redactor().redact(request.head.headerFields) { console.note("> \(name): \(value)") }
        }
        let configuration = command.flags.access.configuration
        try command.flags.access.load(into: configuration, console)
        let network = CurlTransport(configuration)
        let transport = try command.flags.replay.transport(network, console).map(recorded) ?? recorded(network)
        let socket = try await transport.openWebSocket(request)
        try command.flags.access.save(configuration)
        state.withLock { $0.subprotocol = socket.subprotocol }
        if command.flags.verbose { note(socket) }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.send(to: socket)
                return false
            }
            group.addTask {
                try await self.receive(from: socket)
                return true
            }
            defer { group.cancelAll() }
            while let isOver = try await group.next(), !isOver {}
        }
    }

    /// Returns the transport, which records its messages if that is requested.
    private func recorded(
        _ transport: some HTTPTransport & WebSocket.Transport
    ) throws(NetworkError) -> any WebSocket.Transport {
        guard let log = try command.flags.recording.openLog(console) else { return transport }
        return RecordingTransport(transport, log: log)
    }

    private func note(_ socket: WebSocket) {
        console.note("< \(socket.response.statusLine)")
        for (name, value) in Redactor().redact(socket.response.headerFields) {
            console.note("< \(name): \(value)".printable)
        }
    }

    /// Sends the lines. After the last one, waits until no more messages arrive, and closes the connection.
    private func send(to socket: WebSocket) async throws {
        for await line in LineReader.byteLines() {
            let message: WebSocket.Message
            if command.binary {
                message = .binary(line)
            } else if let text = String(validating: line, as: UTF8.self) {
                message = .text(text)
            } else {
                throw Failure(
                    exit: ExitCode.readFailed,
                    code: "file",
                    phase: .send,
                    "a line of standard input is not UTF-8",
                    advice: "send binary messages with --binary"
                )
            }
            do throws(NetworkError) {
                try await socket.send(message)
            } catch {
                // The receiving task reports the error too, after the messages that came before it.
                return
            }
        }
        guard command.count == nil else { return }
        var before = -1
        while case let now = state.withLock({ $0.received }), now != before {
            before = now
            try await Task.sleep(for: .seconds(1))
        }
        await close(socket)
    }

    private func receive(from socket: WebSocket) async throws {
        defer { state.withLock { $0.close = socket.peerClose } }
        do throws(NetworkError) {
            for try await message in socket.messages {
                take(message)
                if isEnough { return await close(socket) }
            }
        } catch {
            guard error.kind == .closed, let close = socket.peerClose, !close.reason.isEmpty else { throw error }
            var told = error
            told.message += ": \(close.reason.printable)"
            told.advice = nil
            throw told
        }
        guard let count = command.count else { return }
        let received = state.withLock { $0.received }
        throw NetworkError(.truncated, during: .body, "the server closed after \(received) of \(count) messages")
    }

    private var isEnough: Bool {
        command.count.map { count in state.withLock { $0.received >= count } } ?? false
    }

    private func close(_ socket: WebSocket) async {
        do throws(NetworkError) {
            try await socket.close()
        } catch {
            console.note("beagle: \(error.message)".printable)
        }
    }

    private func take(_ message: WebSocket.Message) {
        if !command.flags.json { console.write(message.data + Data("\n".utf8)) }
        state.withLock { state in
            state.received += 1
            if command.flags.json { state.messages.append(message.json) }
        }
    }

    // MARK: - Output for `--json`

    var json: JSONValue {
        state.withLock { state in
            var members: [String: JSONValue] = ["messages": .array(state.messages)]
            members["subprotocol"] = state.subprotocol.map { .string($0) }
            members["close"] = state.close?.json
            return .object(members)
        }
    }

    var timing: JSONValue { ["totalMs": .number(start.duration(to: .now).milliseconds)] }
}

extension WebSocket.Close {
    /// The close code and reason, for `--json`.
    var json: JSONValue {
        ["code": .integer(Int64(code.rawValue)), "reason": .string(Redactor().redact(text: reason))]
    }
}

extension WebSocket.Message {
    fileprivate var data: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }

    /// The message for `--json`: text as a string, and bytes in Base64.
    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .binary(let data): ["base64": .string(data.base64EncodedString())]
        }
    }
}
