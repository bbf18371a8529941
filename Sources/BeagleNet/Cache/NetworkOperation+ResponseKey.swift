public import BeagleNetCache
import BeagleNetHTTP

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension NetworkOperation {
    /// The key under which a `CacheInterceptor` stores responses to this operation: of GET and HEAD requests, and of
    /// GraphQL queries however they are sent. `nil` for all others, for event streams and files, and before a client
    /// has made the message.
    public var responseKey: ResponseKey? {
        guard isCacheable, kind != .subscription else { return nil }
        if let built = builtMessage { return built.responseKey(partition, credentialOwner) { madeResponseKey } }
        return madeResponseKey
    }

    private var madeResponseKey: ResponseKey? {
        if transfer.head.authority == nil { return nil }
        // A query that is sent as a hash first, and then with its text, is one operation.
        let asked = firstMessage
        switch asked.head.method {
        case .get, .head: return asked.body == nil ? responseKey("GET", asked, body: nil) : nil
        case .post where kind == .query:
            guard case .some(.some(let body)) = asked.body.known else { return nil }
            return responseKey("POST", asked, body: body)
        default: return nil
        }
    }

    private var isCacheable: Bool {
        switch transfer.delivery {
        case .collect: true
        case .stream: !transfer.expectsEventStream
        case .file: false
        }
    }

    /// The key of GET requests to the same target.
    var targetKey: ResponseKey? {
        transfer.head.authority == nil ? nil : responseKey("GET", transfer, body: nil)
    }

    private func responseKey(_ method: String, _ message: TransferRequest, body: Data?) -> ResponseKey {
        let scheme = message.head.scheme ?? ""
        return ResponseKey(
            method: method,
            scheme: scheme,
            authority: Self.withoutDefaultPort(message.head.authority ?? "", scheme),
            target: message.head.path ?? "/",
            body: body.map { $0 + queryFields(of: message) },
            partition: partition,
            account: account
        )
    }

    /// The fields of a query that is sent in a body. Servers don't name them in `Vary`, because other caches don't
    /// store such responses.
    private func queryFields(of message: TransferRequest) -> Data {
        var lines = ""
        for field in message.head.headerFields where !isAccountField(field.name) {
            lines += "\n\(field.name.canonicalName):\(field.value)"
        }
        return Data(lines.utf8)
    }

    private static func withoutDefaultPort(_ authority: String, _ scheme: String) -> String {
        let port = scheme == "https" ? ":443" : ":80"
        let name = authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
        return name.utf8.contains { (0x41...0x5A).contains($0) } ? name.lowercased() : name
    }

    /// A keyed hash of whatever may identify the user if the app named none: the owner of the credentials that an
    /// `AuthInterceptor` adds, those of the options, and all fields but those that every client sends.
    private var account: UInt64 {
        guard partition.isEmpty else { return 0 }
        var hasField = false
        for field in transfer.head.headerFields where isAccountField(field.name) { hasField = true }
        let credentials = transfer.options.credentialHash
        if !hasField, credentials == nil, credentialOwner == 0 { return 0 }
        let hash = KeyHash.of { hash in
            hash.combine(credentialOwner)
            if let credentials { hash.combine(credentials) }
            for field in transfer.head.headerFields where isAccountField(field.name) {
                hash.combine(field.name.canonicalName)
                hash.combine(field.value)
            }
        }
        return hash.low == 0 ? 1 : hash.low
    }

    private func isAccountField(_ name: HTTPField.Name) -> Bool {
        // The app's own, although only declared origins receive them. The hash selects among the stored responses.
        if name == .beagleCapabilities || name == .beagleCapabilityList { return false }
        return !Self.generalFields.contains(name) || transfer.originScopedFields.contains(name)
    }

    /// Whether a field identifies no user.
    package static func isGeneral(_ name: HTTPField.Name) -> Bool { generalFields.contains(name) }

    /// Fields that don't identify a user. `Vary` says whether a response depends on them.
    private static let generalFields: [HTTPField.Name] = [
        .accept, .acceptEncoding, .acceptLanguage, .userAgent, .contentType, .cacheControl, .ifNoneMatch,
        .ifModifiedSince,
        .ifMatch, .ifUnmodifiedSince, .ifRange, .range, .beagleHash, .beaglePlatform, .pragma,
        .secPurpose,
    ]
}

extension HTTPField.Name {
    static let beaglePlatform = Self("beagle-platform")!
    static let secPurpose = Self("Sec-Purpose")!
}

extension NetworkOperation {
    /// Returns the responses to this operation that a store has: the complete ones, and the beginnings of others whose
    /// transfer ended early.
    package func storedResponses(
        in store: any ResponseStore
    ) async -> (complete: [StoredResponse], beginnings: [StoredResponse]) {
        guard var key = responseKey else { return ([], []) }
        if let ruleKey = key.varianceKey, let rule = await store.responses(for: ruleKey).first {
            key = key.reduced(by: rule)
        }
        return (await store.responses(for: key), await store.responses(for: key.beginningKey))
    }
}
