package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension CachePolicy {
    /// Whether the app made a request conditional or partial itself. Then a cache adds no conditions.
    package static func isConditional(_ request: HTTPRequest) -> Bool {
        request.headerFields.contains { field in
            let name = field.name.canonicalName
            return name == "range" || name.utf8.starts(with: "if-".utf8) && conditions.contains(field.name)
        }
    }

    private static let conditions: Set<HTTPField.Name> = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
    ]

    /// The fields that ask the server whether a stored response is still valid (RFC 9111, 4.3.1), or none if it can't
    /// be asked.
    ///
    /// - Parameters:
    ///   - stored: The response that matches the request.
    ///   - candidates: Other responses of the URL, which may turn out to match.
    package static func conditions(for stored: StoredResponse?, candidates: [StoredResponse] = []) -> HTTPFields {
        var fields = HTTPFields()
        let tags = (stored.map { [$0] } ?? candidates).compactMap(\.entityTag?.text)
        if !tags.isEmpty { fields[.ifNoneMatch] = tags.joined(separator: ", ") }
        guard let stored else { return fields }
        if let modified = stored.head.headerFields[single: .lastModified] { fields[.ifModifiedSince] = modified }
        if let hash = stored.head.headerFields[single: .beagleHash] { fields[.beagleHash] = hash }
        return fields
    }

    /// The stored response that a 304 confirms (RFC 9111, 4.3.3 and 4.3.4), or `nil` if that isn't clear.
    package static func confirmed(
        by response: HTTPResponse,
        _ stored: StoredResponse?,
        candidates: [StoredResponse]
    ) -> StoredResponse? {
        if let stored { return stored }
        guard let tag = response.headerFields[single: .eTag].flatMap({ EntityTag($0) }) else {
            return candidates.count == 1 ? candidates[0] : nil
        }
        return candidates.last { $0.entityTag?.matches(tag) == true }
    }

    /// A stored response after the server confirmed it with 304: its fields are updated (RFC 9111, 3.2), and its age
    /// begins anew.
    ///
    /// `Content-Length` stays, because it belongs to the stored body.
    package static func refreshed(
        _ stored: StoredResponse,
        by response: HTTPResponse,
        to request: HTTPRequest,
        requestTime: Date,
        responseTime: Date,
        digest: (String) -> String = { $0 }
    ) -> StoredResponse {
        var fields = stored.head.headerFields
        // A new validation has an age of its own.
        fields[.age] = nil
        let update = response.headerFields.filter { $0.name != .contentLength }
        for name in Set(update.map(\.name)) { fields[name] = nil }
        for field in update { fields.append(field) }
        return Self.stored(
            HTTPResponse(status: stored.head.status, headerFields: fields),
            body: stored.body,
            trailers: stored.trailers,
            url: stored.url,
            isRedirected: stored.isRedirected,
            to: request,
            requestTime: requestTime,
            responseTime: responseTime,
            digest: digest
        )
    }

    /// A stored response after a HEAD request (RFC 9111, 4.3.5), or `nil` if the stored body isn't that of the current
    /// response.
    package static func refreshed(
        _ stored: StoredResponse,
        byHead response: HTTPResponse,
        to request: HTTPRequest,
        requestTime: Date,
        responseTime: Date,
        digest: (String) -> String = { $0 }
    ) -> StoredResponse? {
        guard response.status == stored.head.status else { return nil }
        for name in [HTTPField.Name.eTag, .lastModified, .contentLength] {
            guard let value = response.headerFields[single: name] else { continue }
            if value != stored.head.headerFields[single: name] { return nil }
        }
        return refreshed(
            stored,
            by: response,
            to: request,
            requestTime: requestTime,
            responseTime: responseTime,
            digest: digest
        )
    }
}
