import BeagleNetHTTP

/// The header fields and the authentication of a hop.
extension Hop {
    /// Returns the header fields of a request as sent: the app's own, plus cookies, `Alt-Used` and authentication.
    static func fields(
        of message: Message,
        by memory: ClientStores?,
        via alternative: AltSvcStore.Service?,
        answering digest: DigestSession?
    ) throws(NetworkError) -> HTTPFields {
        var fields = message.request.head.headerFields
        let own = message.names.contains(.cookie) ? fields.cookies : nil
        if let cookies = memory?.cookieField(of: message.request) ?? own {
            // Set as text, each cookie would become a field of its own; servers expect one field (RFC 6265, 5.4).
            let name = fields[fields: .cookie].first?.name ?? .cookie
            fields[fields: .cookie] = [HTTPField(name: name, opaqueValue: cookies)]
        }
        if let alternative { fields.append(alternative.field) }
        guard let authentication = message.request.options.extras?.authentication else { return fields }
        if let field = try authentication.field(for: message.request) { fields[.authorization] = field }
        if let digest, let credentials = authentication.digestCredentials {
            let authorization = try digest.authorization(for: message.request.head, as: credentials)
            fields[fields: .authorization] = [HTTPField(name: .authorization, opaqueValue: authorization)]
        }
        return fields
    }

    /// Returns whether we set `Accept-Encoding` and decode the response.
    static func decodes(_ message: Message) -> Bool {
        // A byte range refers to the encoded bytes (RFC 9110, 14.2).
        message.names.isDisjoint(with: [.acceptEncoding, .range]) && message.method != .head
            && message.request.options.extras?.codings != []
    }

    /// Returns the lines to add after the request's own fields: see `FieldList`.
    static func addedLines(to message: Message, decodes: Bool) -> [String] {
        let extras = message.request.options.extras
        let method = message.method
        // A fast path without allocations for the most common case.
        if method == .get, decodes, message.request.body == nil, extras?.codings == nil {
            return message.names.contains(.accept) ? linesBesideAccept : usualLines
        }
        // Few lines, because libcurl searches all of them for each field that it may add.
        var lines: [String] = []
        if decodes { lines.append(acceptEncoding(extras?.codings)) }
        if !message.names.contains(.accept) { lines.append("Accept:") }
        if message.request.body == nil {
            // A method that expects a body must declare an empty one (RFC 9110, 8.6).
            if method == .post || method == .put || method == .patch { lines.append("Content-Length: 0") }
        } else {
            lines.append(message.request.sendsExpectContinue ? "Expect: 100-continue" : "Expect:")
            if !message.names.contains(.contentType) { lines.append("Content-Type:") }
        }
        return lines
    }

    private static func acceptEncoding(_ codings: [TransferOptions.ContentCoding]?) -> String {
        guard let codings else { return acceptEncoding }
        return "Accept-Encoding: \(codings.map(\.rawValue).joined(separator: ", "))"
    }

    private static let acceptEncoding = "Accept-Encoding: \(ContentDecoder.accepted)"
    private static let linesBesideAccept = [acceptEncoding]
    private static let usualLines = [acceptEncoding, "Accept:"]

    /// Returns the session that answers a 401, or `nil` if trying again is pointless.
    func digest(after response: RawHead) -> DigestSession? {
        guard response.status == .unauthorized, let extras = request.options.extras,
            extras.authentication?.digestCredentials != nil,
            let challenge = DigestChallenge(of: response.head.headerFields)
        else { return nil }
        guard let last = transfer.digest else { return DigestSession(challenge, round: 1) }
        // The credentials were wrong, unless the server reports a stale nonce, or the challenge is for another realm
        // after a redirect.
        guard challenge.isStale || challenge.realm != last.realm, last.round < DigestSession.roundLimit else {
            return nil
        }
        return DigestSession(challenge, round: last.round + 1)
    }
}

extension TransferRequest {
    /// Whether the request is sent with `Expect: 100-continue`.
    var sendsExpectContinue: Bool {
        guard let body, let threshold = options.extras?.expect.threshold else { return false }
        return body.length.map { Int64($0) >= threshold } ?? true
    }
}

/// A Digest challenge and the count of its answers in one transfer.
final class DigestSession {
    /// The maximum number of challenges that a transfer answers, because a server may report every answer as stale.
    static let roundLimit = 3

    let round: Int
    private let challenge: DigestChallenge
    /// The number of answers so far.
    private var count = 0

    /// The realm of the challenge.
    var realm: String { challenge.realm }

    init(_ challenge: DigestChallenge, round: Int) {
        self.challenge = challenge
        self.round = round
    }

    func authorization(for head: HTTPRequest, as credentials: Credentials) throws(NetworkError) -> String {
        count += 1
        return try challenge.authorization(for: head, as: credentials, nonceCount: count)
    }
}
