package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension CachePolicy {
    /// The response that the store gives to a request: the stored one with its age, 304 if the request's own condition
    /// says that the app has it already, or the range that the request asks for.
    ///
    /// - Returns: `nil` if only the server can respond, as to a condition or a range that isn't supported here.
    package static func response(
        _ stored: StoredResponse,
        to request: HTTPRequest,
        now: Date
    ) -> (head: RawHead, body: Data)? {
        part(of: stored, for: request).map { (RawHead($0.head, freshness(of: stored, now: now)), $0.body) }
    }

    /// The status of a response that is taken from the store.
    package static func status(of stored: StoredResponse, now: Date) -> CacheStatus {
        CacheStatus(freshness(of: stored, now: now))
    }

    private static func freshness(of stored: StoredResponse, now: Date) -> RawHead.Freshness {
        RawHead.Freshness(age: stored.age(at: now), lifetime: stored.lifetime)
    }

    private static func part(of stored: StoredResponse, for request: HTTPRequest) -> (head: HTTPResponse, body: Data)? {
        guard isConditional(request) else { return (stored.head, request.method == .head ? Data() : stored.body) }
        let fields = request.headerFields
        if fields.contains(where: { $0.name == .ifMatch || $0.name == .ifUnmodifiedSince }) { return nil }
        var head = stored.head
        if isUnmodified(stored, for: request) { return (notModified(head), Data()) }
        if request.method == .head { return (head, Data()) }
        guard let range = fields[.range] else { return (head, stored.body) }
        if let condition = fields[single: .ifRange], !stored.meets(ifRange: condition) { return (head, stored.body) }
        guard stored.head.status == .ok, let bounds = ByteRangeSet.single(range, of: stored.body.count) else {
            return nil
        }
        head.status = .partialContent
        head.headerFields[.contentRange] = "bytes \(bounds.lowerBound)-\(bounds.upperBound - 1)/\(stored.body.count)"
        head.headerFields[.contentLength] = String(bounds.count)
        let start = stored.body.startIndex
        return (head, Data(stored.body[start + bounds.lowerBound..<start + bounds.upperBound]))
    }

    /// Whether the request's own condition matches the stored response (RFC 9111, 4.3.2).
    private static func isUnmodified(_ stored: StoredResponse, for request: HTTPRequest) -> Bool {
        let fields = request.headerFields
        if let condition = fields[.ifNoneMatch] {
            guard stored.head.status == .ok else { return false }
            if condition == "*" { return true }
            guard let tag = stored.entityTag else { return false }
            return EntityTag.list(condition).contains { $0.matches(tag) }
        }
        guard let condition = fields[single: .ifModifiedSince].flatMap({ HTTPDate($0) }), stored.head.status == .ok
        else { return false }
        let received = stored.responseTime.timeIntervalSince1970
        let modified = (stored.head.headerFields[single: .lastModified] ?? stored.head.headerFields[single: .date])
            .flatMap { HTTPDate($0) }
        return (modified.map { Double($0.seconds) } ?? received) <= Double(condition.seconds)
    }

    /// The head of a 304 (RFC 9110, 15.4.5).
    private static func notModified(_ head: HTTPResponse) -> HTTPResponse {
        let kept: Set<HTTPField.Name> = [
            .age, .cacheControl, .contentLocation, .date, .eTag, .expires, .lastModified, .vary, .beagleHash,
        ]
        return HTTPResponse(status: .notModified, headerFields: head.headerFields.filter { kept.contains($0.name) })
    }
}

extension StoredResponse {
    /// Whether the condition of a range request is met (RFC 9110, 13.1.5).
    fileprivate func meets(ifRange condition: String) -> Bool {
        if let tag = EntityTag(condition) { return entityTag?.matchesStrongly(tag) == true }
        return head.headerFields[single: .lastModified] == condition
    }
}

/// The value of a `Range` field (RFC 9110, 14.1.2).
enum ByteRangeSet {
    /// The bytes of a single range; `nil` for several ranges, other units and ranges that can't be satisfied.
    static func single(_ text: String, of count: Int) -> Range<Int>? {
        guard text.lowercased().hasPrefix("bytes="), count > 0 else { return nil }
        let parts = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let (first, last) = (Int(digits: parts[0]), Int(digits: parts[1]))
        if parts[0].isEmpty, let last, last > 0 { return count - min(last, count)..<count }
        guard let first, first < count, parts[1].isEmpty || last != nil else { return nil }
        let end = min(last ?? count - 1, count - 1)
        return end < first ? nil : first..<end + 1
    }
}
