public import BeagleNet
public import BeagleNetCurl

/// Sends the messages of a recording again, to another host, and compares the answers with the recorded ones.
///
/// Only safe methods, and GraphQL queries by POST, are sent unless told otherwise, and nothing in which the recording has
/// `REDACTED` in place of a secret: such entries are passed over, and the report tells what to give.
/// ```swift
/// let reissuer = Reissuer(to: try ReissueTarget("https://staging.example.com"))
/// let report = try await reissuer.compare(recording)
/// #expect(report.isSame)
/// ```
public struct Reissuer: Sendable {
    /// Which entries wait for each other.
    public enum Order: String, Sendable, Hashable {
        /// None; where `concurrency` is 1 all go out in the order of the recording.
        case free
        /// Those of the same connection go out one after another; so do those of which the recording says nothing.
        case connection
        /// Those of the same page of an archive (`pageref`) go out one after another; so do those that have none.
        case page
    }

    /// Where messages go; nil sends only those whose host is in `hosts`.
    public var target: ReissueTarget?
    /// Other targets of some hosts: by recorded host in lower case, with or without its port.
    public var hosts: [String: ReissueTarget] = [:]
    /// Header fields in place of recorded ones. Messages to `target` get them also where none was recorded, those to
    /// `hosts` do not: a secret goes to nobody who was not sent it before.
    public var headers: [HeaderMapping] = []
    /// The only methods that are sent, in upper case; nil, the default, sends all that may be.
    public var methods: Set<String>?
    /// Whether methods that may change something on the server go out too. No by default: GET, HEAD and OPTIONS do, and POST
    /// if each operation in its body is a GraphQL query.
    public var allowsUnsafeMethods = false
    /// Which entries are sent; all by default.
    public var filter: @Sendable (LogEntry) -> Bool = { _ in true }
    /// How many messages are under way at a time; 1.
    public var concurrency = 1
    /// Messages to send per second, by a schedule that does not wait for answers: what goes out late, because
    /// `concurrency` messages are still under way, counts from when it should have. From a millionth to a billion; nil, the
    /// default: as they are answered.
    public var rate: Double?
    /// How often each entry is sent; 1.
    public var repeats = 1
    /// Which entries wait for each other. `.free`.
    public var order = Order.free
    /// Whether redirects are followed: their answer is compared with that at the end of the recorded ones, whose other
    /// hops are not sent. No by default: each hop is an entry. To other hosts than the targets, mapped header fields do not
    /// go, and no message whose method may change something: the redirect is then the answer.
    public var followsRedirects = false
    /// Whether an answer counts as the same where the recording has no whole body to compare with it, as one that was cut off
    /// or left out. No by default: it is `unchecked`.
    public var allowsMissingBodies = false
    /// What counts as a difference.
    public var rules = ComparisonRules()
    /// Timeouts, limits and policies of each message; of the redirects, `followsRedirects` decides.
    public var options = TransferOptions()
    private let transport: any HTTPTransport
    private let clock: any Clock<Duration>

    /// Sends to this host.
    ///
    /// - Parameters:
    ///   - target: which one; where nil, only hosts that have a target of their own are asked.
    ///   - transport: what sends; another `CurlTransport` by default.
    ///   - clock: what the rate goes by and latency is measured with.
    public init(
        to target: ReissueTarget?,
        transport: any HTTPTransport = CurlTransport(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.target = target
        self.transport = transport
        self.clock = clock
    }

    /// Sends and compares; cancelling the task ends it.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` where there is nothing to send or an option cannot be used,
    ///   `.cancelled` where the task was cancelled. A message that fails is in the report.
    public func compare(_ recording: Recording) async throws(NetworkError) -> ComparisonReport {
        let plan = try plan(recording, needsAnswers: true)
        let items = Lock(plan.skipped)
        try await send(plan) { message, turn, result, latency in
            var item = message.item
            item.turn = turn
            item.latency = latency
            item.outcome = outcome(of: result, message, in: recording)
            items.withLock { [item] in $0.append(item) }
        }
        return ComparisonReport(items.withLock { $0 }.sorted { ($0.entry, $0.turn) < ($1.entry, $1.turn) })
    }

    /// Sends, and measures how the server does; cancelling the task ends it.
    ///
    /// - Throws: As `compare(_:)`.
    public func load(_ recording: Recording) async throws(NetworkError) -> LoadReport {
        let plan = try plan(recording, needsAnswers: false)
        let report = Lock(LoadReport(skipped: plan.skipped))
        let duration = try await send(plan) { message, _, result, latency in
            report.withLock { $0.add(result.map(\.status.code), message.item.kind, latency) }
        }
        return report.withLock { report in
            report.duration = duration
            return report
        }
    }
}

// MARK: - What is sent

extension Reissuer {
    /// A message to send.
    private struct Message: Sendable {
        let request: TransferRequest
        /// What the answer is compared with: that of the entry, or of the last hop behind it, as the target would have it.
        let recorded: LoggedResponse?
        /// What a report says of it.
        let item: ReissuedEntry
    }

    private struct Plan: Sendable {
        var messages: [Message] = []
        /// Messages that wait for each other, by their places among all, in order.
        var lanes: [[Int]] = []
        var skipped: [ReissuedEntry] = []
        var lanesByKey: [String: Int] = [:]

        mutating func append(_ message: Message, lane key: String?) {
            if let key, let lane = lanesByKey[key] {
                lanes[lane].append(messages.count)
            } else {
                if let key { lanesByKey[key] = lanes.count }
                lanes.append([messages.count])
            }
            messages.append(message)
        }
    }

    private var routes: ReissueRoutes { ReissueRoutes(fallback: target, hosts: hosts) }

    private func plan(_ recording: Recording, needsAnswers: Bool) throws(NetworkError) -> Plan {
        try checkOptions()
        guard !recording.entries.isEmpty else {
            throw .unusable("the recording has no entries", "record something first")
        }
        let chosen = recording.entries.enumerated().filter { _, entry in
            methods?.contains(entry.request.method) != false && filter(entry)
        }
        guard !chosen.isEmpty else {
            throw .unusable(
                "none of the \(recording.entries.count) entries matches the methods and the filter",
                "change one of them"
            )
        }
        let chains = RedirectChains(followsRedirects ? recording.entries : [])
        var plan = Plan()
        for (index, entry) in chosen where !chains.isHop(entry) {
            let recorded = answer(of: chains.end(of: entry))
            do throws(SkippedEntry) {
                if needsAnswers { try check(recorded) }
                let request = try request(of: entry, in: recording)
                plan.append(
                    Message(request: request, recorded: recorded, item: item(index, entry)),
                    lane: lane(of: entry)
                )
            } catch {
                var item = item(index, entry)
                item.outcome = .skipped(error.reason)
                plan.skipped.append(item)
            }
        }
        return plan
    }

    private func request(of entry: LogEntry, in recording: Recording) throws(SkippedEntry) -> TransferRequest {
        let message = ReissueMessage(routes: routes, headers: headers, allowsUnsafeMethods: allowsUnsafeMethods)
        var request = try message.request(entry) { body throws(NetworkError) in try recording.wholeBody(body) }
        request.options = options
        request.options.redirects = followsRedirects ? redirects : .manual
        request.originScopedFields = Set(headers.map(\.name))
        // Cookies are those of the recording.
        request.options.usesCookies = false
        return request
    }

    /// Redirects to who was not named change nothing there.
    private var redirects: RedirectPolicy {
        let routes = routes
        return .follow.deciding { proposal in
            let isNamed = routes.lead(to: Origin(of: proposal.next))
            return isNamed || ReissueMessage.safe.contains(proposal.next.method.rawValue) ? .follow : .handOver
        }
    }

    /// The recorded answer as the target would have given it: URLs of its own host name the target.
    private func answer(of entry: LogEntry) -> LoggedResponse? {
        guard var response = entry.response else { return nil }
        let host = RecordedURL(entry.request.url)?.host
        response.fields = response.fields.map { field in
            guard ["location", "content-location"].contains(field.name.lowercased()),
                let url = RecordedURL(field.value), url.host == host || routes.own(url) != nil
            else { return field }
            return LoggedField(field.name, routes.mapped(field.value))
        }
        return response
    }

    private func item(_ index: Int, _ entry: LogEntry) -> ReissuedEntry {
        ReissuedEntry(
            entry: index,
            id: entry.id,
            method: entry.request.method,
            url: rules.redactor.redact(url: routes.mapped(entry.request.url)),
            kind: entry.kind
        )
    }

    private func checkOptions() throws(NetworkError) {
        guard concurrency > 0 else {
            throw .unusable("concurrency is \(concurrency)", "set it to 1 or more")
        }
        guard repeats > 0 else { throw .unusable("repeats is \(repeats)", "set it to 1 or more") }
        guard rate.map((1e-6...1e9).contains) ?? true else {
            throw .unusable("rate must be from 0.000001 to 1000000000 per second", "change or omit it")
        }
    }

    private func check(_ recorded: LoggedResponse?) throws(SkippedEntry) {
        guard let recorded, recorded.status > 0 else {
            throw SkippedEntry(reason: "no response was recorded to compare with")
        }
        guard MediaType(recorded.mediaType)?.essence != "text/event-stream" else {
            throw SkippedEntry(reason: "an event stream may never end")
        }
    }

    /// What an entry waits for the others of; nil where for none.
    private func lane(of entry: LogEntry) -> String? {
        switch order {
        case .free: nil
        case .connection: entry.connection ?? ""
        case .page: entry.others.first { $0.place.isEmpty && $0.name == "pageref" }?.json ?? ""
        }
    }
}

extension NetworkError {
    fileprivate static func unusable(_ reason: String, _ advice: String) -> NetworkError {
        NetworkError(.badConfiguration, during: .build, reason, advice: advice)
    }
}

// MARK: - Sending

extension Reissuer {
    private typealias Answered =
        @Sendable (Message, _ turn: Int, Result<TransferResponse, NetworkError>, _ latency: Duration) -> Void

    /// Sends all, and gives how long that took.
    @discardableResult
    private func send(_ plan: Plan, _ answered: @escaping Answered) async throws(NetworkError) -> Duration {
        let duration = await send(plan, on: clock, answered)
        guard !Task.isCancelled else {
            throw NetworkError(.cancelled, during: .queue, "sending the requests again was cancelled")
        }
        return duration
    }

    private func send<C: Clock<Duration>>(_ plan: Plan, on clock: C, _ answered: @escaping Answered) async -> Duration {
        let start = clock.now
        // Lanes taken so far, of all turns.
        let taken = Lock(0)
        let width = min(concurrency, plan.lanes.count)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while !Task.isCancelled {
                        let number = taken.withLock { taken in
                            defer { taken += 1 }
                            return taken
                        }
                        let (turn, lane) = number.quotientAndRemainder(dividingBy: plan.lanes.count)
                        guard turn < repeats else { return }
                        for index in plan.lanes[lane] where !Task.isCancelled {
                            let due = rate.map { rate in
                                start.advanced(by: .seconds(Double(turn * plan.messages.count + index) / rate))
                            }
                            await send(plan.messages[index], turn + 1, due, on: clock, answered)
                        }
                    }
                }
            }
        }
        return start.duration(to: clock.now)
    }

    private func send<C: Clock<Duration>>(
        _ message: Message,
        _ turn: Int,
        _ due: C.Instant?,
        on clock: C,
        _ answered: Answered
    ) async {
        let result: Result<TransferResponse, NetworkError>
        let begin = due ?? clock.now
        do {
            if let due { try await clock.sleep(until: due, tolerance: nil) }
            result = .success(try await transport.perform(message.request))
        } catch {
            result = .failure(MappedSecrets(headers).hidden(in: NetworkError(wrapping: error)))
        }
        // Whoever asked is told that it was cancelled.
        if !Task.isCancelled { answered(message, turn, result, begin.duration(to: clock.now)) }
    }

    /// What an answer comes to.
    private func outcome(
        of result: Result<TransferResponse, NetworkError>,
        _ message: Message,
        in recording: Recording
    ) -> ReissuedEntry.Outcome {
        switch result {
        case .failure(let error): return .failed(error)
        case .success(let response):
            guard var recorded = message.recorded else { return .same(notes: []) }
            // What it would have had is not sent.
            if message.request.head.method == .head { recorded.body = LoggedBody() }
            let secrets = MappedSecrets(headers)
            let body = secrets.hidden(in: response.body.data ?? Data())
            let head = secrets.hidden(in: response.head)
            let differences = rules.differences(from: recorded, in: recording, to: head, body)
            guard differences.isEmpty else { return .different(differences) }
            if let reason = differences.missingBody, !allowsMissingBodies { return .unchecked(reason) }
            return .same(notes: differences.notes)
        }
    }
}
