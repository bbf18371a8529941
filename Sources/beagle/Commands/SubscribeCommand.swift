import ArgumentParser
import BeagleNet
import BeagleNetCurl
import BeagleNetGraphQL
import BeagleNetReplay
import Foundation

/// The `beagle subscribe` command, which receives the results of a GraphQL subscription and reconnects when needed.
struct SubscribeCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Receive the results of a GraphQL subscription.",
        discussion: """
            Writes each result as a line of JSON with data, errors or both. If the connection is lost, the command \
            subscribes again, with growing delays until a result arrives, and reports this on standard error. It ends \
            when the server completes the subscription or after --count results, and exits with 102 if a result had \
            errors. Here, -v is short for --variable; use --verbose for details of the transfer. --max-filesize limits \
            the size of a result on all transports (default: 16 MiB).

            With --json, the last line is the object with "ok" (see 'beagle --help').

            EXAMPLE
              beagle subscribe http://127.0.0.1:8080/graphql \\
                -q 'subscription { count }' --count 3
              beagle subscribe ws://127.0.0.1:8080/graphql \\
                -q 'subscription($to: Int) { count(to: $to) }' -v to=3 --over ws
            """
    )

    /// The transport of a subscription.
    enum TransportName: String, ExpressibleByArgument, CaseIterable {
        case ws
        case legacyWS = "ws-legacy"
        case sse
        case sharedSSE = "sse-single"
        case multipart
    }

    @OptionGroup var address: Address
    @OptionGroup var document: DocumentFlags

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Transport to use. (default: the first that works of ws, sse, multipart, ws-legacy)"
        )
    )
    var over: TransportName?

    @Option(name: .long, help: "Exit after this many results.")
    var count: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("Payload of a WebSocket's connection_init: a JSON object, or @FILE.", valueName: "json")
    )
    var connectionParams: String?

    @Option(name: .long, help: "Maximum number of consecutive connections without a result.")
    var retry = 10

    @OptionGroup var flags: CommonFlags

    func validate() throws {
        if let count, count < 1 { throw ValidationError("'--count' must be greater than 0.") }
        if !(0...1_000).contains(retry) { throw ValidationError("'--retry' must be from 0 to 1000.") }
    }

    func run() async throws {
        let console = Console(flags.color)
        let start = ContinuousClock.now
        var timing: JSONValue { ["totalMs": .number(start.duration(to: .now).milliseconds)] }
        let counts = Lock(ResultCounts())
        do {
            try await Interrupt.cancelling { try await limited { try await follow(console, counts) } }
            let counts = counts.withLock { $0 }
            if let failure = counts.failure { throw failure }
            if flags.json {
                let result: JSONValue = ["events": .integer(Int64(counts.results))]
                console.line("\(CommandResult(json: result).envelope(timing: timing))")
            }
        } catch {
            let failure = failure(for: error)
            if flags.json { console.line("\(failure.envelope(timing: timing))") } else { console.note(failure) }
            throw ExitCode(failure.exit)
        }
    }
}

extension SubscribeCommand {
    /// The numbers of results so far.
    private struct ResultCounts {
        var results = 0
        var resultsWithErrors = 0

        var failure: Failure? {
            guard resultsWithErrors > 0 else { return nil }
            return Failure(
                exit: ExitCode.graphQLErrors,
                code: NetworkError.Kind.graphQL.rawValue,
                phase: .response,
                "\(resultsWithErrors) of \(results) results had errors"
            )
        }
    }

    /// Runs `body` for at most `--max-time`.
    private func limited(_ body: @escaping @Sendable () async throws -> Void) async throws {
        guard let maxTime = flags.maxTime else { return try await body() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .seconds(maxTime))
                throw NetworkError(
                    .timeout,
                    during: .body,
                    "the subscription took longer than \(Duration.seconds(maxTime))",
                    advice: "allow more time with --max-time"
                )
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func follow(_ console: Console, _ counts: Lock<ResultCounts>) async throws {
        let configuration = flags.access.configuration
        try flags.access.load(into: configuration, console)
        let client = NetworkClientDefault(
            dependencies: dependencies,
            transport: try transport(CurlTransport(configuration), console),
            options: try flags.options()
        )
        let subscription = try client.subscribe(to: document.request(), at: endpoint())
        for try await event in subscription.events {
            switch event {
            case .open: if flags.verbose { console.note("* subscribed") }
            case .dropped(let count):
                console.note("beagle: results dropped because they were not written in time: \(count)")
            case .interrupted(let error, let wait):
                let seconds = Double(Int(wait / .milliseconds(100))) / 10
                console.note(
                    "beagle: \(flags.replacingAPINames(error.message).printable); reconnecting in \(seconds) s"
                )
            case .response(let response):
                console.line("\(response.json)")
                let results = counts.withLock { counts in
                    counts.results += 1
                    if !response.errors.isEmpty { counts.resultsWithErrors += 1 }
                    return counts.results
                }
                if results == count { return try flags.access.save(configuration) }
            }
        }
        try flags.access.save(configuration)
    }

    private var dependencies: BeagleDependencies {
        let dependencies = BeagleDependencies()
        dependencies.logger = .off
        dependencies.interceptors = [
            RetryInterceptor(subscriptionBackoff: Backoff(limit: retry + 1)), StatusInterceptor(),
        ]
        return dependencies
    }

    /// Returns the transport, which is a recording if one is replayed, and records its requests if that is requested.
    private func transport(_ network: CurlTransport, _ console: Console) throws -> any HTTPTransport {
        guard let log = try flags.recording.openLog(console) else {
            return try flags.replay.transport(network, console) ?? network
        }
        guard let replay = try flags.replay.transport(network, console) else {
            return RecordingTransport(network, log: log)
        }
        return RecordingTransport(replay, log: log)
    }

    private func endpoint() throws -> GraphQLEndpoint {
        var address = address
        address.url = WebSocketCommand.asHTTP(address.url)
        address.base = address.base.map(WebSocketCommand.asHTTP)
        var endpoint = GraphQLEndpoint(try address.target())
        var head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: nil)
        flags.apply(to: &head)
        for name in Set(head.headerFields.map(\.name)) {
            let values = head.headerFields[values: name]
            endpoint.headers[name.rawName] = values.joined(separator: name == .cookie ? "; " : ", ")
        }
        let isSocket = [self.address.url, self.address.base ?? ""].contains { url in
            ["ws://", "wss://"].contains { url.lowercased().hasPrefix($0) }
        }
        if let maxFilesize = flags.maxFilesize { endpoint.maxMessageBytes = maxFilesize.bytes }
        let ways = over.map { [$0] } ?? (isSocket ? [.ws, .legacyWS] : [.ws, .sse, .multipart, .legacyWS])
        endpoint.subscriptions = try ways.map(transport)
        return endpoint
    }

    private func transport(_ name: TransportName) throws -> GraphQLEndpoint.SubscriptionTransport {
        switch name {
        case .ws: .webSocket(try socketOptions(.graphQLTransportWS))
        case .legacyWS: .webSocket(try socketOptions(.graphQLWS))
        case .sse: .events()
        case .sharedSSE: .events(.single)
        case .multipart: .multipart
        }
    }

    private func socketOptions(_ subprotocol: GraphQLSocketOptions.Subprotocol) throws -> GraphQLSocketOptions {
        var options = GraphQLSocketOptions(subprotocol: subprotocol)
        if let connectionParams {
            let parameters = try document.object(connectionParams, of: "--connection-params")
            options.parameters = { parameters }
        }
        return options
    }

    private func failure(for error: any Error) -> Failure {
        var failure = flags.failure(for: error)
        if let error = error as? NetworkError, error.kind == .tooLarge {
            // The other limit is on results that weren't written in time, and has no option.
            let isMessage = error.advice?.contains("maxMessageBytes") == true
            failure.advice = isMessage ? "increase --max-filesize" : nil
        }
        guard let error = error as? NetworkError else { return failure }
        failure.details["close"] = error.webSocketClose?.json
        let errors = error.graphQLErrors
        guard !errors.isEmpty else {
            if let text = error.serverText { failure.message += ": \(text)" }
            return failure
        }
        failure.details["errors"] = .array(errors.map(\.raw))
        // Errors of other kinds already contain the server's text, and more.
        guard [.graphQL, .status].contains(error.kind) else { return failure }
        failure.exit = ExitCode.graphQLErrors
        failure.code = NetworkError.Kind.graphQL.rawValue
        failure.message = errors.map(\.description.printable).joined(separator: "\n  ")
        failure.advice = nil
        return failure
    }
}

extension NetworkError {
    /// The text of an error response, or `nil` for other errors.
    fileprivate var serverText: String? {
        guard kind == .status, let data else { return nil }
        return ServerText.line(of: data, response?.headerFields[single: .contentType])
            ?? Problem(data)?.detail.map { Redactor().redact(text: $0) }
    }
}

extension GraphQLResponse<JSONValue> {
    /// The result as a line of output.
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [:]
        members["data"] = data
        if !errors.isEmpty { members["errors"] = .array(errors.map(\.raw)) }
        if !extensions.isEmpty { members["extensions"] = .object(extensions) }
        return .object(members)
    }
}
