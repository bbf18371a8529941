package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension CachePolicy {
    /// Whether a complete response may be stored (RFC 9111, 3).
    ///
    /// A response to POST may be stored for later GET requests if it names their URL in `Content-Location` and its
    /// lifetime is explicit (RFC 9110, 9.3.3).
    package static func mayStore(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        let status = response.status.code
        // A part, or a confirmation of a stored response, isn't a response of its own.
        guard status >= 200, status != 206, status != 304 else { return false }
        if CacheDirectives(ofRequest: request.headerFields).noStore { return false }
        let fields = response.headerFields
        let directives = CacheDirectives(fields)
        if directives.mustUnderstand {
            guard StatusRules.isUnderstood(response.status) else { return false }
        } else if directives.noStore {
            return false
        }
        if fields[.vary]?.split(separator: ",").contains(where: { $0.filter { $0 != " " } == "*" }) == true {
            return false
        }
        let isExplicit = directives.maxAge != nil || fields.contains(.expires)
        switch request.method {
        case .get:
            return isExplicit || directives.isPublic || directives.isPrivate || fields.contains(.beagleHash)
                || StatusRules.isHeuristicallyCacheable(response.status)
        case .post:
            guard isExplicit, status == 200, let location = fields[single: .contentLocation] else { return false }
            return location.isEmpty || URLReference(location).resolved(against: request) == request.urlText
        default: return false
        }
    }

    /// The stored form of a complete response.
    ///
    /// - Parameters:
    ///   - requestTime: The time at which the request was sent.
    ///   - responseTime: The time at which the response was received.
    package static func stored(
        _ response: HTTPResponse,
        body: Data,
        trailers: HTTPFields = [:],
        url: String = "",
        isRedirected: Bool = false,
        to request: HTTPRequest,
        requestTime: Date,
        responseTime: Date,
        digest: (String) -> String = { $0 }
    ) -> StoredResponse {
        StoredResponse(
            head: HTTPResponse(status: response.status, headerFields: endToEndFields(of: response.headerFields)),
            body: body,
            trailers: trailers,
            url: url,
            selectingFields: selectingFields(of: response, request, digest),
            isRedirected: isRedirected,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }

    /// A field that selects a screen although no `Vary` names it, so that a server can't mix the screens of two
    /// versions of an app.
    static let capabilities = HTTPField.Name.beagleCapabilities.canonicalName

    private static func selectingFields(
        of response: HTTPResponse,
        _ request: HTTPRequest,
        _ digest: (String) -> String
    ) -> [StoredResponse.SelectingField] {
        let names = (response.headerFields[.vary] ?? "").lowercased().split(separator: ",").map {
            $0.filter { $0 != " " }
        }
        var selecting = Set(names)
        if request.headerFields.contains(.beagleCapabilities) { selecting.insert(capabilities) }
        return selecting.sorted().filter { !$0.isEmpty }.map { name in
            let field = StoredResponse.SelectingField(name, of: request.headerFields)
            return StoredResponse.SelectingField(name: name, value: field.value.map(digest))
        }
    }

    /// The fields without those of the connection (RFC 9111, 3.1) and those that must not be used without validation.
    private static func endToEndFields(of fields: HTTPFields) -> HTTPFields {
        var excluded = connectionFields
        for option in (fields[.connection] ?? "").lowercased().split(separator: ",") {
            excluded.insert(option.filter { $0 != " " })
        }
        excluded.formUnion(CacheDirectives(fields).noCacheFields)
        return fields.filter { !excluded.contains($0.name.canonicalName) }
    }

    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

}
