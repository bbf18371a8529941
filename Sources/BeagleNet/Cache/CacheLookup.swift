import BeagleNetCache
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The stored responses for an operation, and the decision about them.
struct CacheLookup: Sendable {
    let operation: NetworkOperation
    /// The key, without the parts of the query that don't change the response.
    let key: ResponseKey
    let decision: CachePolicy.Decision
    let now: Date
    /// The number of removals from the store before the lookup.
    let removals: Int
    /// The beginning of a response whose transfer ended early, if the rest may be requested.
    let beginning: StoredResponse?

    /// Looks into the memory of a store, which holds values in the form of the whole store.
    init(
        _ operation: NetworkOperation,
        _ key: ResponseKey,
        _ memory: MemoryResponseStore,
        of store: any ResponseStore
    ) {
        let removals = store.removals
        var key = key
        if let ruleKey = key.varianceKey, let rule = memory.responses(for: ruleKey).first {
            key = key.reduced(by: rule)
        }
        let now = operation.now
        let decision = Self.decision(operation, memory.responses(for: key), store, now)
        let beginning =
            Self.mayContinue(operation, decision)
            ? Self.matching(operation, memory.responses(for: key.beginningKey), store) : nil
        (self.operation, self.key, self.decision, self.now) = (operation, key, decision, now)
        (self.removals, self.beginning) = (removals, beginning)
    }

    /// Looks into a store that may have to be waited for.
    nonisolated(nonsending) init(_ operation: NetworkOperation, _ key: ResponseKey, _ store: any ResponseStore) async {
        let removals = store.removals
        var key = key
        if let ruleKey = key.varianceKey, let rule = await store.responses(for: ruleKey).first {
            key = key.reduced(by: rule)
        }
        let now = operation.now
        let decision = Self.decision(operation, await store.responses(for: key), store, now)
        let beginning =
            Self.mayContinue(operation, decision)
            ? Self.matching(operation, await store.responses(for: key.beginningKey), store) : nil
        (self.operation, self.key, self.decision, self.now) = (operation, key, decision, now)
        (self.removals, self.beginning) = (removals, beginning)
    }

    /// Whether only the rest of a response could be requested: nothing complete matches.
    private static func mayContinue(_ operation: NetworkOperation, _ decision: CachePolicy.Decision) -> Bool {
        guard case .forward(_, nil, let candidates) = decision, candidates.isEmpty else { return false }
        let head = operation.transfer.head
        return head.method == .get && !CachePolicy.isConditional(head) && operation.policy != .networkOnly
            && !CacheDirectives(ofRequest: head.headerFields).noStore
    }

    private static func matching(
        _ operation: NetworkOperation,
        _ beginnings: [StoredResponse],
        _ store: any ResponseStore
    ) -> StoredResponse? {
        CachePolicy.selected(from: beginnings, for: operation.transfer.head, digest: store.digest)
    }

    private static func decision(
        _ operation: NetworkOperation,
        _ responses: [StoredResponse],
        _ store: any ResponseStore,
        _ now: Date
    ) -> CachePolicy.Decision {
        CachePolicy.decision(
            for: operation.transfer.head,
            responses,
            use: operation.use,
            now: now,
            digest: { store.digest($0) }
        )
    }

    private init(_ lookup: CacheLookup, _ decision: CachePolicy.Decision) {
        (operation, key, now, removals) = (lookup.operation, lookup.key, lookup.now, lookup.removals)
        self.decision = decision
        beginning = nil
    }

    /// The same lookup as if nothing was stored.
    var withoutStored: CacheLookup { CacheLookup(self, .forward(.stale, stored: nil, candidates: [])) }

    /// The same lookup with the decision to validate a response.
    func validating(_ stored: StoredResponse) -> CacheLookup {
        CacheLookup(self, .forward(.stale, stored: stored, candidates: []))
    }

    /// The result with a stored response; `nil` if only the server can respond.
    func result(_ stored: StoredResponse, isStale: Bool = false) -> NetworkOperation.Result? {
        guard let (head, body) = CachePolicy.response(stored, to: operation.transfer.head, now: now) else { return nil }
        let response = NetworkResponse(stored: head, body, url: stored.url, trailers: stored.trailers)
        return .init(.response(response), from: .cache, isStale: isStale)
    }

    /// The response that the server is asked about, if any, and others that it may confirm.
    var forwarded: (reason: CacheStatus.ForwardReason, stored: StoredResponse?, candidates: [StoredResponse]) {
        switch decision {
        case .forward(let reason, let stored, let candidates):
            (beginning == nil ? reason : .partial, stored, candidates)
        case .hit, .staleWhileRevalidate, .unavailable: (.request, nil, [])
        }
    }

    /// The stored response that is given before the server's, marked stale.
    var earlyResult: NetworkOperation.Result? {
        guard operation.policy == .cacheAndNetwork || operation.policy == .cacheFirst, let stored = forwarded.stored,
            stored.isUsable(at: now)
        else { return nil }
        return result(stored, isStale: true)
    }
}

extension StoredResponse {
    /// Whether the response may stand in for the server's, although it may be stale.
    func isUsable(at now: Date) -> Bool { head.status.kind == .successful && (allowsStale || isFresh(at: now)) }
}

extension NetworkOperation {
    /// The rule that selects acceptable stored responses.
    fileprivate var use: CachePolicy.Use {
        switch policy {
        case .http: .fresh
        case .cacheFirst: .freshOrUnspecified(limit: maxAge.map { Double($0) } ?? .infinity)
        case .cacheOnly: .any
        case .networkOnly: .none
        case .networkFirst, .cacheAndNetwork: .validated(unlessImmutable: true)
        }
    }

    /// The current time by the client's clock.
    var now: Date { operationEnvironment.now() }
}

extension Double {
    /// A duration in seconds.
    init(_ duration: Duration) {
        self = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }
}

extension ResponseKey {
    /// The key of the rule that says which parts of the query count (`No-Vary-Search`); `nil` without a query.
    var varianceKey: ResponseKey? {
        guard method == "GET", let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return ResponseKey(
            method: "No-Vary-Search",
            scheme: scheme,
            authority: authority,
            target: String(target[..<mark]),
            partition: partition,
            account: account
        )
    }

    /// The key of the beginning of a response whose transfer ended early.
    var beginningKey: ResponseKey {
        ResponseKey(
            method: "beginning",
            scheme: scheme,
            authority: authority,
            target: target,
            partition: partition,
            account: account
        )
    }

    /// The key without the parts of the query that don't count.
    func reduced(by rule: StoredResponse) -> ResponseKey {
        guard let variance = SearchVariance(rule.head.headerFields) else { return self }
        return with(target: variance.significantPart(of: target))
    }
}
