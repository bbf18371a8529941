/// How a request shows who asks (RFC 9110, 11). It belongs to the origin of the request: a redirect to another one
/// leaves it behind, also where that one leads back.
///
/// A request that has an `Authorization` header as well is refused with `.badConfiguration`, except with `netrc`, which
/// then does nothing.
public struct Authentication: Sendable, Hashable {
    private enum Scheme: Hashable {
        case basic(Credentials)
        case bearer(String)
        case digest(Credentials)
        case netrc(path: String?)
    }

    private let scheme: Scheme

    /// User and password with each message, readable for whoever reads it: only TLS protects them (RFC 7617). A colon
    /// in the user's name is an error.
    public static func basic(_ credentials: Credentials) -> Authentication {
        Authentication(scheme: .basic(credentials))
    }

    /// A token with each message (RFC 6750), of letters, digits and `-._~+/`, `=` at its end.
    public static func bearer(_ token: String) -> Authentication {
        Authentication(scheme: .bearer(token))
    }

    /// Proof of the password without the password (RFC 7616), with MD5 or SHA-256, whichever better one the server
    /// takes. The first message goes out without it; a 401 that asks for it is answered with a second one. So a body
    /// that cannot be replayed is an error.
    public static func digest(_ credentials: Credentials) -> Authentication {
        Authentication(scheme: .digest(credentials))
    }

    /// What a file of `machine`, `login` and `password` says of the request's host, sent as with `basic`; nothing where it
    /// says nothing. The file is read for each request.
    ///
    /// - Parameter path: the file; `.netrc` in the home folder where nil.
    public static func netrc(path: String? = nil) -> Authentication {
        Authentication(scheme: .netrc(path: path))
    }
}

extension Authentication {
    /// Who answers a challenge of Digest; nil for other schemes.
    package var digestCredentials: Credentials? {
        if case .digest(let credentials) = scheme { return credentials }
        return nil
    }

    /// The value of `Authorization` with which a message goes out before any challenge; nil for none.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration`, or `.file` where the file cannot be read.
    package func field(for request: TransferRequest) throws(NetworkError) -> String? {
        let hasField = request.head.headerFields.contains(.authorization)
        if case .netrc(let path) = scheme {
            guard !hasField, let found = try Netrc.credentials(for: Origin(of: request.head).host, in: path) else {
                return nil
            }
            return try Self.basicField(found)
        }
        guard !hasField else {
            throw .badAuthentication(
                "credentials are set, but the request already has an Authorization header",
                "remove one of them"
            )
        }
        switch scheme {
        case .basic(let credentials): return try Self.basicField(credentials)
        case .bearer(let token):
            guard Self.isToken(token) else {
                throw .badAuthentication(
                    "the token contains characters that RFC 6750, 2.1 does not allow",
                    "encode it as Base64"
                )
            }
            return "Bearer \(token)"
        case .digest(let credentials):
            try Self.check(credentials)
            guard request.body?.isReplayable != false else {
                throw .badAuthentication(
                    "digest may send the body twice, but the streamed body cannot be replayed",
                    "make the body replayable"
                )
            }
            return nil
        case .netrc: return nil
        }
    }

    private static func basicField(_ credentials: Credentials) throws(NetworkError) -> String {
        try check(credentials)
        guard !credentials.user.utf8.contains(UInt8(ascii: ":")) else {
            throw .badAuthentication("the user name contains a colon (RFC 7617, 2)", "use another scheme")
        }
        return "Basic \(Data("\(credentials.user):\(credentials.password)".utf8).base64EncodedString())"
    }

    private static func check(_ credentials: Credentials) throws(NetworkError) {
        let isClean = [credentials.user, credentials.password].allSatisfy { text in
            text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        }
        guard isClean else {
            throw .badAuthentication("the user name or password contains a control character", "remove it")
        }
    }

    private static func isToken(_ token: String) -> Bool {
        let bytes = token.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
        return end > bytes.startIndex && bytes[end...].allSatisfy { $0 == UInt8(ascii: "=") }
            && bytes[..<end].allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }
}

extension Authentication: CustomStringConvertible, CustomReflectable {
    /// The scheme alone.
    public var description: String {
        switch scheme {
        case .basic: "basic"
        case .bearer: "bearer"
        case .digest: "digest"
        case .netrc: "netrc"
        }
    }

    /// Nothing: `dump` shows what a mirror has.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension NetworkError {
    fileprivate static func badAuthentication(_ problem: String, _ advice: String) -> NetworkError {
        NetworkError(
            .badConfiguration,
            during: .build,
            "TransferOptions.authentication: \(problem)",
            advice: advice
        )
    }
}
