public import BeagleNet
public import BeagleNetCurl

/// A client that sends the requests of a recording again, to another host, and compares the responses with the recorded
/// ones.
///
/// By default, it sends only requests with safe methods and GraphQL queries by POST. It never sends `REDACTED` in place
/// of a secret. It skips such entries, and the report states which mapping is missing.
/// ```swift
/// let reissuer = Reissuer(to: try Reissuer.Target("https://staging.example.com"))
/// let report = try await reissuer.compare(recording)
/// #expect(report.isSame)
/// ```
public struct Reissuer: Sendable {
    /// The order in which entries are sent.
    public enum Order: String, Sendable, Hashable {
        /// Entries don't wait for each other.
        ///
        /// If `concurrency` is 1, they are sent in the order of the recording.
        case free
        /// Entries of the same connection are sent one after another, as are those without a recorded connection.
        case connection
        /// Entries of the same page of an archive (`pageref`) are sent one after another, as are those without a page.
        case page
    }

    /// The server to which requests are sent; `nil` to send only those whose host is in `hosts`.
    public var target: Target?
    /// The targets of individual hosts, by recorded host in lower case, with or without its port.
    public var hosts: [String: Target] = [:]
    /// The header fields that replace recorded ones.
    ///
    /// Requests to `target` also receive fields that weren't recorded. Requests to `hosts` receive only fields that
    /// they were originally sent, so that no other server obtains a secret.
    public var headers: [HeaderMapping] = []
    /// The methods that are sent, in upper case; `nil`, the default, for all allowed methods.
    public var methods: Set<String>?
    /// Whether requests that may change data on the server are sent; false by default.
    ///
    /// By default, the allowed methods are GET, HEAD and OPTIONS, and POST if each operation in the body is a GraphQL
    /// query.
    public var allowsUnsafeMethods = false
    /// A predicate that selects the entries to send; all by default.
    public var filter: @Sendable (LogEntry) -> Bool = { _ in true }
    /// The maximum number of concurrent requests, 1 by default.
    public var concurrency = 1
    /// The number of requests per second, from a millionth to a billion; `nil`, the default, for no schedule.
    ///
    /// The schedule doesn't wait for responses. If a request is sent late because `concurrency` requests are still in
    /// flight, its latency is measured from its scheduled time. Without a schedule, a request is sent when an earlier
    /// one has its response.
    public var rate: Double?
    /// The number of times that each entry is sent, 1 by default.
    public var repeats = 1
    /// The order in which entries are sent, `.free` by default.
    public var order = Order.free
    /// Whether redirects are followed; false by default, because each redirect is an entry.
    ///
    /// If they are followed, the final response is compared with the one at the end of the recorded redirects, and the
    /// other entries in the chain are not sent. Redirects to hosts that are not targets don't receive mapped header
    /// fields. If their method is unsafe, they are not followed, and the redirect is the response.
    public var followsRedirects = false
    /// Whether a response matches if the recorded body is incomplete or missing; false by default.
    ///
    /// If false, such a response is `unchecked`.
    public var allowsMissingBodies = false
    /// The rules that determine which differences count.
    public var rules = ComparisonRules()
    /// The timeouts, limits and policies of each request, except for redirects, which `followsRedirects` controls.
    public var options = TransferOptions()
    private let transport: any HTTPTransport
    private let clock: any Clock<Duration>

    /// Creates a client that sends requests to a server.
    ///
    /// - Parameters:
    ///   - target: the server; if `nil`, only hosts with their own target are used.
    ///   - transport: the transport that sends requests; a new `CurlTransport` by default.
    ///   - clock: the clock that controls the rate and measures latencies.
    public init(
        to target: Target?,
        transport: any HTTPTransport = CurlTransport(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.target = target
        self.transport = transport
        self.clock = clock
    }

    /// Sends the requests and compares the responses.
    ///
    /// Cancelling the task cancels the requests.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` if there is nothing to send or an option is invalid,
    ///   `.cancelled` if the task is cancelled. Failed requests are part of the report.
    public func compare(_ recording: Recording) async throws(NetworkError) -> ComparisonReport {
        let plan = try plan(recording, needsRecordedResponses: true)
        let items = Lock(plan.skipped)
        try await send(plan) { message, repetition, result, latency in
            var item = message.item
            item.repetition = repetition
            item.latency = latency
            item.outcome = outcome(of: result, message, in: recording)
            items.withLock { [item] in $0.append(item) }
        }
        return ComparisonReport(items.withLock { $0 }.sorted { ($0.entry, $0.repetition) < ($1.entry, $1.repetition) })
    }

    /// Sends the requests and measures the server's performance.
    ///
    /// Cancelling the task cancels the requests.
    ///
    /// - Throws: the same errors as `compare(_:)`.
    public func load(_ recording: Recording) async throws(NetworkError) -> LoadReport {
        let plan = try plan(recording, needsRecordedResponses: false)
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

// MARK: - Planning

extension Reissuer {
    /// A request to send.
    private struct Message: Sendable {
        let request: TransferRequest
        /// The response to compare with: that of the entry, or of the last entry in its chain of redirects, with URLs
        /// mapped to the target.
        let recorded: LogEntry.Response?
        /// The entry in the report.
        let item: Entry
    }

    private struct Plan: Sendable {
        var messages: [Message] = []
        /// The groups of requests that are sent one after another, as indices of `messages`.
        var groups: [[Int]] = []
        var skipped: [Entry] = []
        var groupsByKey: [String: Int] = [:]

        mutating func append(_ message: Message, group key: String?) {
            if let key, let group = groupsByKey[key] {
                groups[group].append(messages.count)
            } else {
                if let key { groupsByKey[key] = groups.count }
                groups.append([messages.count])
            }
            messages.append(message)
        }
    }

    private var routes: ReissueRoutes { ReissueRoutes(fallback: target, hosts: hosts) }

    private func plan(_ recording: Recording, needsRecordedResponses: Bool) throws(NetworkError) -> Plan {
        try checkOptions()
        guard !recording.entries.isEmpty else {
            throw .unusable("the recording has no entries", "record something first")
        }
        let chosen = recording.entries.enumerated().filter { _, entry in
            methods?.contains(entry.request.method) != false && filter(entry)
        }
        guard !chosen.isEmpty else {
            throw .unusable(
                "no entry of the recording matches the methods and the filter",
                "change one of them"
            )
        }
        let chains = RedirectChains(followsRedirects ? recording.entries : [])
        var plan = Plan()
        for (index, entry) in chosen where !chains.isHop(entry) {
            let recorded = answer(of: chains.end(of: entry))
            do throws(SkipReason) {
                if needsRecordedResponses { try check(recorded) }
                let request = try request(of: entry, in: recording)
                plan.append(
                    Message(request: request, recorded: recorded, item: item(index, entry)),
                    group: groupKey(of: entry)
                )
            } catch {
                var item = item(index, entry)
                item.outcome = .skipped(error.reason)
                plan.skipped.append(item)
            }
        }
        return plan
    }

    private func request(of entry: LogEntry, in recording: Recording) throws(SkipReason) -> TransferRequest {
        let message = ReissueRequestBuilder(routes: routes, headers: headers, allowsUnsafeMethods: allowsUnsafeMethods)
        var request = try message.request(entry) { body throws(NetworkError) in try recording.wholeBody(body) }
        request.options = options
        request.options.redirects = followsRedirects ? redirects : .manual
        request.originScopedFields = Set(headers.map(\.name))
        // The recorded cookies are sent instead.
        request.options.usesCookies = false
        return request
    }

    /// A policy that follows redirects to other servers only if their method is safe.
    private var redirects: TransferOptions.RedirectPolicy {
        let routes = routes
        return .follow.deciding { proposal in
            let isNamed = routes.include(Origin(of: proposal.next))
            return isNamed || ReissueRequestBuilder.safe.contains(proposal.next.method.rawValue)
                ? .follow : .returnRedirect
        }
    }

    /// Returns the recorded response with URLs mapped to the target, as the target would have sent it.
    private func answer(of entry: LogEntry) -> LogEntry.Response? {
        guard var response = entry.response else { return nil }
        let host = RecordedURL(entry.request.url)?.host
        response.fields = response.fields.map { field in
            guard ["location", "content-location"].contains(field.name.lowercased()),
                let url = RecordedURL(field.value), url.host == host || routes.hostTarget(of: url) != nil
            else { return field }
            return LogEntry.Field(field.name, routes.mapped(field.value))
        }
        return response
    }

    private func item(_ index: Int, _ entry: LogEntry) -> Entry {
        Entry(
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

    private func check(_ recorded: LogEntry.Response?) throws(SkipReason) {
        guard let recorded, recorded.status > 0 else {
            throw SkipReason(reason: "no response was recorded to compare with")
        }
        guard MediaType(recorded.mediaType)?.essence != "text/event-stream" else {
            throw SkipReason(reason: "an event stream may never end")
        }
    }

    /// Returns the key of the group of entries that are sent one after another; `nil` if the entry is independent.
    private func groupKey(of entry: LogEntry) -> String? {
        switch order {
        case .free: nil
        case .connection: entry.connection ?? ""
        case .page: entry.unknownMembers.first { $0.place.isEmpty && $0.name == "pageref" }?.json ?? ""
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
    private typealias Completion =
        @Sendable (Message, _ repetition: Int, Result<TransferResponse, NetworkError>, _ latency: Duration) -> Void

    /// Sends all requests, and returns the total duration.
    @discardableResult
    private func send(_ plan: Plan, _ completion: @escaping Completion) async throws(NetworkError) -> Duration {
        let duration = await send(plan, on: clock, completion)
        guard !Task.isCancelled else {
            throw NetworkError(.cancelled, during: .queue, "sending the requests again was cancelled")
        }
        return duration
    }

    private func send<C: Clock<Duration>>(_ plan: Plan, on clock: C, _ completion: @escaping Completion) async
        -> Duration
    {
        let start = clock.now
        // The number of groups that were started, in all repetitions.
        let taken = Lock(0)
        let width = min(concurrency, plan.groups.count)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while !Task.isCancelled {
                        let number = taken.withLock { taken in
                            defer { taken += 1 }
                            return taken
                        }
                        let (repetition, group) = number.quotientAndRemainder(dividingBy: plan.groups.count)
                        guard repetition < repeats else { return }
                        for index in plan.groups[group] where !Task.isCancelled {
                            let due = rate.map { rate in
                                start.advanced(by: .seconds(Double(repetition * plan.messages.count + index) / rate))
                            }
                            await send(plan.messages[index], repetition + 1, due, on: clock, completion)
                        }
                    }
                }
            }
        }
        return start.duration(to: clock.now)
    }

    private func send<C: Clock<Duration>>(
        _ message: Message,
        _ repetition: Int,
        _ due: C.Instant?,
        on clock: C,
        _ completion: Completion
    ) async {
        let result: Result<TransferResponse, NetworkError>
        let begin = due ?? clock.now
        do {
            if let due { try await clock.sleep(until: due, tolerance: nil) }
            result = .success(try await transport.perform(message.request))
        } catch {
            result = .failure(MappedSecrets(headers).redacted(NetworkError(wrapping: error)))
        }
        // After a cancellation, the caller receives an error instead.
        if !Task.isCancelled { completion(message, repetition, result, begin.duration(to: clock.now)) }
    }

    /// Returns the outcome of a request.
    private func outcome(
        of result: Result<TransferResponse, NetworkError>,
        _ message: Message,
        in recording: Recording
    ) -> Entry.Outcome {
        switch result {
        case .failure(let error): return .failed(error)
        case .success(let response):
            guard var recorded = message.recorded else { return .same(notes: []) }
            // A HEAD response has no body.
            if message.request.head.method == .head { recorded.body = LogEntry.Body() }
            let secrets = MappedSecrets(headers)
            let body = secrets.redacted(response.body.data ?? Data())
            let head = secrets.redacted(response.head)
            let differences = rules.differences(from: recorded, in: recording, to: head, body)
            guard differences.isEmpty else { return .different(differences) }
            if let reason = differences.missingBody, !allowsMissingBodies { return .unchecked(reason) }
            return .same(notes: differences.notes)
        }
    }
}
