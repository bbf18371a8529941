import BeagleNetCache
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Stores the network's response, confirms the stored one after a 304, and looks for a substitute if the server can't
/// be reached.
final class CacheObservation: RequestObservation {
    private let cache: CacheInterceptor
    private let operation: NetworkOperation
    private let lookup: CacheLookup
    private let next: Pipeline.Next
    private let record: SendRecord
    private let memory: MemoryResponseStore?

    /// Adds the conditions that validate a stored response to the operation's message.
    init(_ cache: CacheInterceptor, _ operation: inout NetworkOperation, _ lookup: CacheLookup, _ next: Pipeline.Next) {
        self.cache = cache
        self.lookup = lookup
        self.next = next
        memory = cache.store as? MemoryResponseStore
        let (_, stored, candidates) = lookup.forwarded
        if operation.policy != .networkOnly || stored != nil, !CachePolicy.isConditional(operation.transfer.head) {
            let conditions =
                lookup.beginning.map { CachePolicy.fields(forRestOf: $0) }
                ?? CachePolicy.conditions(for: stored, candidates: candidates)
            for field in conditions { operation.transfer.head.headerFields[fields: field.name] = [field] }
        }
        record = SendRecord(operation)
        operation.run?.sendRecord = record
        operation.run?.forwardReason = lookup.forwarded.reason
        self.operation = operation
    }

    private var store: any ResponseStore { cache.store }

    func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
        record.add(result)
        return result
    }

    func mustWait(after outcome: NetworkOperation.Outcome) -> Bool {
        memory == nil || needsFullResponse(after: outcome)
    }

    func didEnd(_ outcome: inout NetworkOperation.Outcome, of sent: NetworkOperation) {
        let changes = changes(after: &outcome)
        if let memory { changes.apply(to: memory) }
    }

    nonisolated(nonsending) func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if needsFullResponse(after: outcome) {
            // The server confirmed a response that isn't stored, or sent another part than the rest.
            if lookup.beginning != nil { await store.remove(lookup.key.beginningKey) }
            var again = lookup.operation
            again.policy = .networkOnly
            let plain = CacheObservation(cache, &again, lookup.withoutStored, next)
            return try await next(again, emit, observedBy: plain)
        }
        var outcome = outcome
        let changes = changes(after: &outcome)
        // A deadline may have cancelled this task, in which a store might refuse to work.
        if !changes.isEmpty { await Task { [store] in await changes.apply(to: store) }.value }
        return try outcome.get()
    }

    /// Whether the response to the app's request is missing: the server confirmed a response with 304, and it isn't
    /// clear which, or it was asked for the rest of a response and sent something else.
    private func needsFullResponse(after outcome: NetworkOperation.Outcome) -> Bool {
        if lookup.beginning != nil, outcome.status == .partialContent || outcome.status == .rangeNotSatisfiable {
            return completion(by: outcome) == nil
        }
        guard outcome.status == .notModified, !CachePolicy.isConditional(lookup.operation.transfer.head) else {
            return false
        }
        return confirmed(by: outcome) == nil
    }

    private func confirmed(by outcome: NetworkOperation.Outcome) -> StoredResponse? {
        guard let response = outcome.answer else { return nil }
        let (_, stored, candidates) = lookup.forwarded
        guard let confirmed = CachePolicy.confirmed(by: response.response, stored, candidates: candidates) else {
            return nil
        }
        // The redirect leads elsewhere now.
        if confirmed.isRedirected, confirmed.url != response.url { return nil }
        return confirmed
    }

    // MARK: - The rest of a response

    /// The head of the complete response, and the part that the body of the outcome is; `nil` if the outcome isn't the
    /// rest of the stored beginning.
    private func completion(by outcome: NetworkOperation.Outcome) -> (head: HTTPResponse, part: PartialBody)? {
        guard let beginning = lookup.beginning, case .success(let result) = outcome, let head = result.head,
            let whole = CachePolicy.completed(beginning, by: head), beginning.url == outcome.answer?.url
        else { return nil }
        // The body of a stream is checked as it arrives.
        guard let body = result.response?.data else { return whole }
        return Int64(body.count) == whole.part.end - whole.part.start ? whole : nil
    }

    /// The rest of a body whose beginning is stored.
    private typealias Continuation = (beginning: Data, part: PartialBody)

    /// Puts the complete response in the place of a partial one.
    ///
    /// - Returns: The beginning and the part that the body of a stream is, which isn't joined yet.
    private func addBeginning(to outcome: inout NetworkOperation.Outcome) -> Continuation? {
        guard let beginning = lookup.beginning, let (head, part) = completion(by: outcome),
            case .success(var result) = outcome
        else { return nil }
        switch result.content {
        case .response(var response):
            (response.response, response.data) = (head, beginning.body + response.data)
            result.content = .response(response)
        case .stream(var stream):
            stream.response = head
            result.content = .stream(stream)
        case .progress, .connection: break
        }
        outcome = .success(result)
        return result.response == nil ? (beginning.body, part) : nil
    }

    // MARK: - Streams

    /// Joins the parts of a streamed response, and records its body while the app reads it.
    private func recorded(_ stream: StreamingResponse, _ continuation: Continuation?, records: Bool) -> HTTPBody {
        let length = continuation?.part.end ?? stream.body.length
        return HTTPBody(
            .stream(length: length, isReplayable: false) {
                let recording = self.recording(of: stream, length, continuation, records: records)
                return { try await recording.next() }
            }
        )
    }

    private func recording(
        of stream: StreamingResponse,
        _ length: Int64?,
        _ continuation: Continuation?,
        records: Bool
    ) -> StreamRecording {
        var saveBeginning: StreamRecording.Save?
        if records, mayContinue(stream) {
            saveBeginning = { await self.saveBeginning($0, of: stream) }
        }
        let largest = records ? Self.maxBytes(of: store, lookup.key) : 0
        return StreamRecording(
            stream.body,
            after: continuation?.beginning,
            continuation?.part,
            maxBytes: min(length.map { Int(clamping: $0) } ?? .max, largest),
            savesEarly: memory == nil && lookup.key.isPersistent,
            save: { if records { await self.save($0, of: stream) } },
            saveBeginning: saveBeginning
        )
    }

    /// The size of the largest body that a store accepts, to a power of two.
    private static func maxBytes(of store: any ResponseStore, _ key: ResponseKey) -> Int {
        var count = 1 << 30
        while count > 1, !store.accepts(key, byteCount: count) { count /= 2 }
        return count
    }

    private func save(_ body: Data, of stream: StreamingResponse) async {
        let response = NetworkResponse(
            data: body,
            response: stream.response,
            url: stream.url,
            metrics: stream.metrics,
            trailers: stream.trailers
        )
        // An image was checked while its beginning arrived; now it is complete.
        guard !operation.refuses(.init(response)) else { return }
        let isStorable = operation.kind != .query || body.isObject(without: "errors")
        var changes = isStorable ? changes(with: response) : []
        // Its beginning may have been saved. `changes(with:)` removes one that was there before.
        let hasBeginning = lookup.beginning == nil ? memory == nil : !isStorable
        if hasBeginning, mayContinue(stream) { changes.append(.remove(lookup.key.beginningKey)) }
        await Task { [store, changes] in await changes.apply(to: store) }.value
    }

    /// Whether the rest of a stream may be requested later if its transfer ends early.
    private func mayContinue(_ stream: StreamingResponse) -> Bool {
        operation.transfer.head.method == .get && CachePolicy.mayContinue(stream.response)
    }

    private func saveBeginning(_ body: Data, of stream: StreamingResponse) async {
        let response = NetworkResponse(data: body, response: stream.response, url: stream.url, metrics: stream.metrics)
        guard lookup.forwarded.stored == nil, !operation.refuses(.init(response)), isForThisUser(response) else {
            return
        }
        let beginning = stored(response)
        await Task { [store, lookup] in await store.insert(beginning, for: lookup.key.beginningKey) }.value
    }

    // MARK: - Changes of the store

    /// The changes of the store that follow from an outcome, which becomes that of the operation.
    private func changes(after outcome: inout NetworkOperation.Outcome) -> [CacheChange] {
        let (reason, stored, _) = lookup.forwarded
        let continuation = addBeginning(to: &outcome)
        let response = outcome.answer
        if let response, response.status == .notModified { return refreshed(by: response, &outcome) }
        if isOutOfReach(outcome), let stored, mayReplace(stored, outcome) {
            if var result = lookup.result(stored, isStale: true) {
                result.note(reason, isStale: true)
                outcome = .success(next.used(result, for: operation))
            }
            return []
        }
        outcome.note(reason)
        guard let response else { return [] }
        var changes = changes(afterHead: response, outcome)
        if case .success(var result) = outcome, case .stream(var stream) = result.content {
            let length = Int(clamping: continuation?.part.end ?? stream.body.length ?? 0)
            if changes == nil, !store.accepts(lookup.key, byteCount: length) { changes = [.remove(lookup.key)] }
            if changes == nil || continuation != nil {
                stream.body = recorded(stream, continuation, records: changes == nil)
                result.content = .stream(stream)
                outcome = .success(result)
            }
            if changes == nil { return [] }
        }
        guard let changes else { return self.changes(with: response) }
        return changes + removalOfBeginning(after: response)
    }

    /// The removal of a beginning after a complete response that isn't stored.
    private func removalOfBeginning(after response: NetworkResponse) -> [CacheChange] {
        lookup.beginning == nil || response.status == .partialContent ? [] : [.remove(lookup.key.beginningKey)]
    }

    /// The changes that follow from the head of a response; `nil` if its body is to be stored.
    private func changes(
        afterHead response: NetworkResponse,
        _ outcome: NetworkOperation.Outcome
    ) -> [CacheChange]? {
        let head = operation.transfer.head
        if CachePolicy.clearsPrefetches(response.response, to: head) {
            cache.originChanges.note(Origin(of: head))
        }
        if CachePolicy.clearsOrigin(response.response, to: head) { return [.removeOrigin(lookup.key)] }
        guard isComplete(outcome) else { return [] }
        if head.method == .head { return refreshed(byHead: response) }
        // The body of a stream is checked when the app has read it.
        if operation.kind == .query, !operation.isStream, !response.data.isObject(without: "errors") { return [] }
        if mayStore(response) { return nil }
        // A part says nothing about the whole.
        let isPart = response.status == .partialContent || lookup.operation.transfer.head.headerFields.contains(.range)
        return isPart ? [] : removal(after: response)
    }

    private func changes(with response: NetworkResponse) -> [CacheChange] {
        guard store.accepts(lookup.key, byteCount: response.data.count), isForThisUser(response) else {
            return [.remove(lookup.key)] + removalOfBeginning(after: response)
        }
        let stored = stored(response)
        let changes = stored.isWorthStoring ? insertion(of: stored) : removal(after: response)
        return changes + removalOfBeginning(after: response)
    }

    private func stored(_ response: NetworkResponse) -> StoredResponse {
        CachePolicy.stored(
            response.response,
            body: response.data,
            trailers: response.trailers,
            url: response.url,
            isRedirected: response.metrics.redirects > 0,
            to: lookup.operation.transfer.head,
            requestTime: lookup.now,
            responseTime: operation.now,
            digest: store.digest
        )
    }

    /// The change after a response that isn't stored: a successful one, or one whose status says that the resource is
    /// gone, removes the stored responses.
    private func removal(after response: NetworkResponse) -> [CacheChange] {
        let isNewer = response.status.kind == .successful || [404, 410].contains(response.status.code)
        return isNewer ? [.remove(lookup.key)] : []
    }

    private func insertion(of stored: StoredResponse) -> [CacheChange] {
        guard SearchVariance(stored.head.headerFields) != nil, let ruleKey = operation.responseKey?.varianceKey else {
            return [.insert(stored, lookup.key)]
        }
        let rule = stored.rule
        return [.insertWithRule(stored, lookup.operation.responseKey?.reduced(by: rule) ?? lookup.key, rule, ruleKey)]
    }

    private func mayStore(_ response: NetworkResponse) -> Bool {
        guard operation.kind == .query, operation.transfer.head.method == .post else {
            return CachePolicy.mayStore(response.response, to: lookup.operation.transfer.head)
        }
        let (answer, request) = (
            CacheDirectives(response.response.headerFields),
            CacheDirectives(lookup.operation.transfer.head.headerFields)
        )
        // It can't be validated.
        let isExcluded = answer.noStore || answer.noCache || answer.mustRevalidate || answer.maxAge == 0
        return response.status == .ok && !isExcluded && !request.noStore && !request.noCache
    }

    private func isComplete(_ outcome: NetworkOperation.Outcome) -> Bool {
        guard !record.hasParts else { return false }
        switch outcome {
        case .success(let result): return result.source == .network && result.isSettled && !operation.refuses(result)
        case .failure: return true
        }
    }

    /// Whether a response is for the user of the key, who hasn't signed out since the request.
    private func isForThisUser(_ response: NetworkResponse) -> Bool {
        store.removals == lookup.removals && record.allowsStoring(response, for: operation, lookup.key, next)
    }

    /// Puts the stored response in the place of a 304.
    private func refreshed(by response: NetworkResponse, _ outcome: inout NetworkOperation.Outcome) -> [CacheChange] {
        guard let confirmed = confirmed(by: outcome) else { return [] }
        let fresh = CachePolicy.refreshed(
            confirmed,
            by: response.response,
            to: lookup.operation.transfer.head,
            requestTime: lookup.now,
            responseTime: operation.now,
            digest: store.digest
        )
        if !CachePolicy.isConditional(lookup.operation.transfer.head) {
            var served = NetworkResponse(
                data: fresh.body,
                response: fresh.head,
                url: response.url,
                metrics: response.metrics,
                trailers: fresh.trailers
            )
            served.cacheStatus = CacheStatus(forwardReason: lookup.forwarded.reason, isRevalidated: true)
            outcome = next.outcome(of: .init(served), for: operation)
        }
        return isForThisUser(response) ? insertion(of: fresh) : []
    }

    /// Updates the stored response of a GET request by that to a HEAD request.
    private func refreshed(byHead response: NetworkResponse) -> [CacheChange] {
        guard let stored = lookup.forwarded.stored, response.status.kind == .successful else { return [] }
        let fresh = CachePolicy.refreshed(
            stored,
            byHead: response.response,
            to: lookup.operation.transfer.head,
            requestTime: lookup.now,
            responseTime: operation.now,
            digest: store.digest
        )
        guard isForThisUser(response) else { return [] }
        return [fresh.map { .insert($0, lookup.key) } ?? .remove(lookup.key)]
    }

    // MARK: - Substitutes

    /// Whether the server could not be reached, or not before the operation's deadline, or says that it is out of
    /// order.
    private func isOutOfReach(_ outcome: NetworkOperation.Outcome) -> Bool {
        if let status = outcome.status { return [500, 502, 503, 504].contains(status.code) }
        guard case .failure(let error) = outcome else { return false }
        return error.isTransient || error.isCancelled && operation.deadlineTimer?.isExpired == true
    }

    private func mayReplace(_ stored: StoredResponse, _ outcome: NetworkOperation.Outcome) -> Bool {
        let isAllowed =
            operation.policy == .networkFirst
            || cache.servesStaleOffline && operation.policy != .networkOnly && outcome.status == nil
            || operation.policy != .networkOnly
                && CachePolicy.allowsStale(stored, ifErrorOf: lookup.operation.transfer.head, now: operation.now)
        guard isAllowed, stored.isUsable(at: operation.now), let result = lookup.result(stored, isStale: true) else {
            return false
        }
        return !operation.refuses(result)
    }
}

extension StoredResponse {
    /// Whether there will be a use for the response: it has a lifetime, or is successful and can be validated or served
    /// stale.
    fileprivate var isWorthStoring: Bool {
        let isReusable = directives.noCache ? false : lifetime > 0
        return isReusable
            || head.status.kind == .successful && (allowsStale || !CachePolicy.conditions(for: self).isEmpty)
    }

    /// An entry with the field that says which parts of queries count.
    fileprivate var rule: StoredResponse {
        let fields = head.headerFields.filter { $0.name == .noVarySearch }
        return StoredResponse(
            head: HTTPResponse(status: .ok, headerFields: fields),
            body: Data(),
            requestTime: requestTime,
            responseTime: responseTime
        )
    }
}

extension NetworkOperation.Outcome {
    /// The response, also that of a failure because of its status. The response of a stream has no data.
    var answer: NetworkResponse? {
        switch self {
        case .success(let result): result.response ?? result.streamedHead
        case .failure(let error): NetworkResponse(of: error)
        }
    }

    /// Notes why the server was asked.
    fileprivate mutating func note(_ reason: CacheStatus.ForwardReason) {
        guard case .success(var result) = self else { return }
        result.note(reason, isStale: false)
        self = .success(result)
    }
}

extension NetworkOperation.Result {
    mutating func note(_ reason: CacheStatus.ForwardReason, isStale: Bool) {
        switch content {
        case .response(var response):
            response.cacheStatus = CacheStatus(response.cacheStatus, reason, isStale: isStale)
            content = .response(response)
        case .stream(var stream):
            stream.cacheStatus = CacheStatus(stream.cacheStatus, reason, isStale: isStale)
            content = .stream(stream)
        case .progress, .connection: break
        }
    }

    /// The head of a streamed response, as a response without data.
    fileprivate var streamedHead: NetworkResponse? {
        guard case .stream(let stream) = content else { return nil }
        return stream.withoutBody
    }
}

extension CacheStatus {
    fileprivate init(_ status: CacheStatus?, _ reason: ForwardReason, isStale: Bool) {
        self = status ?? CacheStatus()
        (forwardReason, self.isStale) = (reason, isStale)
    }
}
