import BeagleNet
import BeagleNetHTTP

/// The reason why an entry is not sent, as a phrase without initial capital and period.
struct SkipReason: Error, Equatable {
    let reason: String
}

/// A builder of requests that are sent again.
struct ReissueRequestBuilder {
    /// The methods that are safe (RFC 9110, 9.2.1). TRACE is excluded, because its response contains the request with
    /// its secrets.
    static let safe: Set = ["GET", "HEAD", "OPTIONS"]
    /// The methods that cannot be sent to another server.
    private static let unsendable: Set = ["CONNECT", "TRACE"]
    /// The fields of a connection, of the body's framing, and of the transport's content codings (RFC 9110, 7.6.1).
    private static let own: Set = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
        "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    let routes: ReissueRoutes
    let headers: [Reissuer.HeaderMapping]
    let allowsUnsafeMethods: Bool

    /// Returns the request to send.
    ///
    /// - Parameter body: returns the bytes of the recorded body.
    func request(_ entry: LogEntry, body: (LogEntry.Body) throws(NetworkError) -> Data) throws(SkipReason)
        -> TransferRequest
    {
        let request = entry.request
        guard let method = HTTPRequest.Method(request.method), !Self.unsendable.contains(request.method) else {
            throw SkipReason(reason: "a request with the method \(request.method) cannot be sent again")
        }
        if !allowsUnsafeMethods { try checkSafety(of: request, body) }
        guard let url = RecordedURL(request.url), url.scheme.hasPrefix("http"), entry.response?.status != 101 else {
            throw SkipReason(reason: "the entry is not an HTTP request but, for example, a WebSocket")
        }
        guard let target = routes.target(of: url) else {
            throw SkipReason(reason: "no target is set for requests to \(url.host); add one")
        }
        guard !url.target.contains(Redactor.placeholder), !entry.redactions.contains(where: Self.isOfURL) else {
            throw SkipReason(reason: "its URL has a secret that was redacted and cannot be replaced")
        }
        let path: String
        do throws(NetworkError) {
            // Recorders write URLs as they were typed, with spaces and non-ASCII letters.
            path = try WireURL(URLReference("\(target)\(url.target)").encoded()).target
        } catch {
            throw SkipReason(reason: "its URL cannot be sent: \(error.message)")
        }
        let bytes = try self.body(of: entry, body)
        let fields = try fields(of: entry, bytes, addsMapped: routes.hostTarget(of: url) == nil)
        var head = HTTPRequest(method: method, scheme: target.scheme, authority: target.authority, path: path)
        head.headerFields = fields
        return TransferRequest(head, body: bytes.map { HTTPBody($0) })
    }

    /// Checks that the request has a safe method or is a GraphQL query sent by POST.
    private func checkSafety(
        of request: LogEntry.Request,
        _ data: (LogEntry.Body) throws(NetworkError) -> Data
    ) throws(SkipReason) {
        guard !request.hasMutationInURL else {
            throw SkipReason(reason: "a mutation may change data on the server; allow unsafe methods to send it")
        }
        if Self.safe.contains(request.method) { return }
        if request.method == "POST", let body = request.body {
            do throws(NetworkError) {
                if request.isGraphQLQuery(try data(body)) { return }
            } catch {
                throw Self.unsendable(error)
            }
        }
        throw SkipReason(
            reason: "\(request.method) may change data on the server; allow unsafe methods to send it"
        )
    }

    private static func unsendable(_ error: NetworkError) -> SkipReason {
        SkipReason(reason: "its body cannot be sent: \(error.message)")
    }

    /// Returns the recorded fields, with mapped fields in place of recorded ones.
    ///
    /// A host with its own target receives only those mapped fields that it was originally sent, because they may be
    /// secret.
    private func fields(of entry: LogEntry, _ body: Data?, addsMapped: Bool) throws(SkipReason) -> HTTPFields {
        let recorded = entry.request.fields(for: body).filter { !$0.name.hasPrefix(":") }
        let named = recorded.filter { $0.name.lowercased() == "connection" }
            .flatMap { $0.value.lowercased().split { $0 == "," || $0 == " " }.map(String.init) }
        let dropped = Self.own.union(named)
        var fields = HTTPFields()
        var places = Set(entry.redactions.compactMap(Self.header))
        for field in recorded where !dropped.contains(field.name.lowercased()) {
            if headers.contains(where: { $0.name.canonicalName == field.name.lowercased() }) {
                places.insert(field.name.lowercased())
                continue
            }
            guard !field.value.contains(Redactor.placeholder) else { throw Self.missing(field.name) }
            guard let name = HTTPField.Name(field.name), HTTPField.isValidValue(field.value) else {
                throw SkipReason(reason: "a recorded header field cannot be sent")
            }
            fields.append(HTTPField(name: name, value: field.value))
        }
        for mapping in headers where addsMapped || places.contains(mapping.name.canonicalName) {
            fields.append(HTTPField(name: mapping.name, value: mapping.value))
        }
        // A field that was removed from the recording completely.
        let absent = places.sorted().first { place in
            fields.allSatisfy { $0.name.canonicalName != place } && !dropped.contains(place)
        }
        if let absent { throw Self.missing(absent) }
        return fields
    }

    /// Returns the lower-case name of the header field in a redaction's place.
    private static func header(_ place: String) -> String? {
        let prefix = "request.headers."
        return place.hasPrefix(prefix) ? place.dropFirst(prefix.count).lowercased() : nil
    }

    /// Returns whether a redaction's place is in the sent part of the URL, even if no placeholder remains.
    private static func isOfURL(_ place: String) -> Bool {
        place.hasPrefix("request.url:") && !place.hasPrefix("request.url:#") && place != "request.url:user"
    }

    private static func isOfBody(_ place: String) -> Bool {
        place.hasPrefix("request.postData.text:") || place.hasPrefix("request.postData.params")
    }

    private static func missing(_ name: String) -> SkipReason {
        SkipReason(reason: "the recording does not contain the secret in \(name); map this header")
    }

    private func body(of entry: LogEntry, _ data: (LogEntry.Body) throws(NetworkError) -> Data) throws(SkipReason)
        -> Data?
    {
        guard let body = entry.request.body else { return nil }
        let bytes: Data
        do {
            bytes = try data(body)
        } catch {
            throw Self.unsendable(error)
        }
        guard bytes.firstRange(of: Data(Redactor.placeholder.utf8)) == nil,
            !entry.redactions.contains(where: Self.isOfBody)
        else {
            throw SkipReason(reason: "its body has a secret that was redacted and cannot be replaced")
        }
        return bytes
    }
}
