import BeagleNetHTTP

/// How a hop shows who asks.
extension Hop {
    /// The fields of a message as they go out: the app's own, and what the client's memory and the authentication add.
    static func fields(
        of message: Message,
        by memory: ClientMemory?,
        via alternative: AltSvcStore.Service?,
        answering digest: DigestSession?
    ) throws(NetworkError) -> HTTPFields {
        var fields = message.request.head.headerFields
        let own = message.names.contains(.cookie) ? fields.cookies : nil
        if let cookies = memory?.cookieField(of: message.request) ?? own {
            // Of a text, HTTPFields makes a field of each cookie; one is what servers expect (RFC 6265, 5.4).
            let name = fields[fields: .cookie].first?.name ?? .cookie
            fields[fields: .cookie] = [HTTPField(name: name, opaqueValue: cookies)]
        }
        if let alternative { fields.append(alternative.field) }
        guard let authentication = message.request.options.extras?.authentication else { return fields }
        if let field = try authentication.field(for: message.request) { fields[.authorization] = field }
        if let digest, let credentials = authentication.digestCredentials {
            let answer = try digest.answer(to: message.request.head, as: credentials)
            fields[fields: .authorization] = [HTTPField(name: .authorization, opaqueValue: answer)]
        }
        return fields
    }

    /// What to answer a 401 with; nil where there is nothing more to say.
    func digest(after response: RawHead) -> DigestSession? {
        guard response.status == .unauthorized, let extras = request.options.extras,
            extras.authentication?.digestCredentials != nil,
            let challenge = DigestChallenge(of: response.head.headerFields)
        else { return nil }
        guard let last = transfer.digest else { return DigestSession(challenge, round: 1) }
        // What was answered was wrong, unless the server says that it was only late, or this is not what it was about:
        // a redirect leads to another realm.
        guard challenge.isStale || challenge.realm != last.realm, last.round < DigestSession.roundLimit else {
            return nil
        }
        return DigestSession(challenge, round: last.round + 1)
    }
}

/// A challenge of Digest that the messages of a transfer answer.
final class DigestSession {
    /// Challenges that a transfer answers: a server may say of any answer that it was late.
    static let roundLimit = 3

    let round: Int
    private let challenge: DigestChallenge
    /// Answers so far.
    private var count = 0

    /// What the credentials are for.
    var realm: String { challenge.realm }

    init(_ challenge: DigestChallenge, round: Int) {
        self.challenge = challenge
        self.round = round
    }

    func answer(to head: HTTPRequest, as credentials: Credentials) throws(NetworkError) -> String {
        count += 1
        return try challenge.answer(to: head, as: credentials, count: count)
    }
}
