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
            for field in CachePolicy.conditions(for: stored, candidates: candidates) {
                operation.transfer.head.headerFields[field.name] = field.value
            }
        }
        record = SendRecord(operation)
        operation.run?.sendRecord = record
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
        let change = change(after: &outcome)
        if let memory { change.apply(to: memory) }
    }

    nonisolated(nonsending) func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if needsFullResponse(after: outcome) {
            // The server confirmed a response that isn't stored.
            var again = lookup.operation
            again.policy = .networkOnly
            let plain = CacheObservation(cache, &again, lookup.withoutStored, next)
            return try await next(again, emit, observedBy: plain)
        }
        var outcome = outcome
        let change = change(after: &outcome)
        // A deadline may have cancelled this task, in which a store might refuse to work.
        await Task { [store] in await change.apply(to: store) }.value
        return try outcome.get()
    }

    /// Whether the server confirmed a response with 304, and it isn't clear which, though the app didn't ask for that.
    private func needsFullResponse(after outcome: NetworkOperation.Outcome) -> Bool {
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

    /// The change of the store that follows from an outcome, which becomes that of the operation.
    private func change(after outcome: inout NetworkOperation.Outcome) -> CacheChange {
        let (reason, stored, _) = lookup.forwarded
        let response = outcome.answer
        if let response, response.status == .notModified { return refreshed(by: response, &outcome) }
        if isOutOfReach(outcome), let stored, mayReplace(stored, outcome) {
            if var result = lookup.result(stored, isStale: true) {
                result.note(reason, isStale: true)
                outcome = .success(next.used(result, for: operation))
            }
            return .none
        }
        outcome.note(reason)
        guard let response else { return .none }
        return change(with: response, outcome)
    }

    private func change(with response: NetworkResponse, _ outcome: NetworkOperation.Outcome) -> CacheChange {
        let head = operation.transfer.head
        if CachePolicy.clearsOrigin(response.response, to: head) { return .removeOrigin(lookup.key) }
        guard isComplete(outcome) else { return .none }
        if head.method == .head { return refreshed(byHead: response) }
        if operation.kind == .query, !response.data.isObject(without: "errors") { return .none }
        guard mayStore(response) else {
            // A part says nothing about the whole.
            return response.status == .partialContent || head.headerFields.contains(.range)
                ? .none : removal(after: response)
        }
        guard store.accepts(lookup.key, byteCount: response.data.count), isForThisUser(response) else {
            return .remove(lookup.key)
        }
        let isRedirected = response.metrics.redirects > 0
        let stored = CachePolicy.stored(
            response.response,
            body: response.data,
            trailers: response.trailers,
            url: response.url,
            isRedirected: isRedirected,
            to: lookup.operation.transfer.head,
            requestTime: lookup.now,
            responseTime: operation.now,
            digest: store.digest
        )
        return stored.isWorthStoring ? insertion(of: stored) : removal(after: response)
    }

    /// The change after a response that isn't stored: a successful one, or one whose status says that the resource is
    /// gone, removes the stored responses.
    private func removal(after response: NetworkResponse) -> CacheChange {
        let isNewer = response.status.kind == .successful || [404, 410].contains(response.status.code)
        return isNewer ? .remove(lookup.key) : .none
    }

    private func insertion(of stored: StoredResponse) -> CacheChange {
        guard SearchVariance(stored.head.headerFields) != nil, let ruleKey = operation.responseKey?.varianceKey else {
            return .insert(stored, lookup.key)
        }
        let rule = stored.rule
        return .insertWithRule(stored, lookup.operation.responseKey?.reduced(by: rule) ?? lookup.key, rule, ruleKey)
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

    /// Whether a response is for the user of the key.
    private func isForThisUser(_ response: NetworkResponse) -> Bool {
        record.allowsStoring(response, for: operation, lookup.key, next)
    }

    /// Puts the stored response in the place of a 304.
    private func refreshed(by response: NetworkResponse, _ outcome: inout NetworkOperation.Outcome) -> CacheChange {
        guard let confirmed = confirmed(by: outcome) else { return .none }
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
        return isForThisUser(response) ? insertion(of: fresh) : .none
    }

    /// Updates the stored response of a GET request by that to a HEAD request.
    private func refreshed(byHead response: NetworkResponse) -> CacheChange {
        guard let stored = lookup.forwarded.stored, response.status.kind == .successful else { return .none }
        let fresh = CachePolicy.refreshed(
            stored,
            byHead: response.response,
            to: lookup.operation.transfer.head,
            requestTime: lookup.now,
            responseTime: operation.now,
            digest: store.digest
        )
        guard isForThisUser(response) else { return .none }
        return fresh.map { .insert($0, lookup.key) } ?? .remove(lookup.key)
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
    /// The response, also that of a failure because of its status.
    var answer: NetworkResponse? {
        switch self {
        case .success(let result): result.response
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
    fileprivate mutating func note(_ reason: CacheStatus.ForwardReason, isStale: Bool) {
        guard case .response(var response) = content else { return }
        var status = response.cacheStatus ?? CacheStatus()
        (status.forwardReason, status.isStale) = (reason, isStale)
        response.cacheStatus = status
        content = .response(response)
    }
}
