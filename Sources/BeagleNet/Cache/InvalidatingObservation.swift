import BeagleNetCache
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Removes the stored responses that a request with an unsafe method makes invalid, and stores a response to POST that
/// is also one to GET (RFC 9110, 9.3.3).
final class InvalidatingObservation: RequestObservation {
    private let cache: CacheInterceptor
    private let operation: NetworkOperation
    private let next: Pipeline.Next
    private let record: SendRecord
    private let start: Date

    init(_ cache: CacheInterceptor, _ operation: NetworkOperation, _ next: Pipeline.Next) {
        self.cache = cache
        self.operation = operation
        self.next = next
        record = SendRecord(operation)
        start = operation.now
        operation.run?.sendRecord = record
    }

    private var store: any ResponseStore { cache.store }

    func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
        record.add(result)
        return result
    }

    func mustWait(after outcome: NetworkOperation.Outcome) -> Bool {
        !(store is MemoryResponseStore) && !changes(after: outcome).isEmpty
    }

    func didEnd(_ outcome: inout NetworkOperation.Outcome, of sent: NetworkOperation) {
        noteChange(outcome)
        guard let memory = store as? MemoryResponseStore else { return }
        changes(after: outcome).apply(to: memory)
    }

    nonisolated(nonsending) func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        noteChange(outcome)
        await changes(after: outcome).apply(to: store)
        return try outcome.get()
    }

    private func noteChange(_ outcome: NetworkOperation.Outcome) {
        guard let status = outcome.status, status.kind == .successful || status.kind == .redirection else { return }
        cache.originChanges.note(Origin(of: operation.transfer.head))
    }

    private func changes(after outcome: NetworkOperation.Outcome) -> [CacheChange] {
        guard let response = outcome.answer, let key = operation.targetKey else { return [] }
        let head = operation.transfer.head
        if CachePolicy.clearsOrigin(response.response, to: head) { return [.removeOrigin(key)] }
        let targets = CachePolicy.invalidatedTargets(by: response.response, to: head)
        let removals = targets.map { CacheChange.remove(key.with(target: $0)) }
        guard case .success = outcome, !operation.isStream, !record.hasParts, operation.kind != .mutation,
            CachePolicy.mayStore(response.response, to: head), store.accepts(key, byteCount: response.data.count),
            record.allowsStoring(response, for: operation, key, next)
        else { return removals }
        let stored = CachePolicy.stored(
            response.response,
            body: response.data,
            trailers: response.trailers,
            url: response.url,
            isRedirected: response.metrics.redirects > 0,
            to: head,
            requestTime: start,
            responseTime: operation.now,
            digest: store.digest
        )
        return removals + [.insert(stored, key)]
    }
}
