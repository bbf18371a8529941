/// Credentials that a request sends to its origin (RFC 9110, 11).
///
/// They belong to the origin of the request. A redirect to another origin drops them, even if a later redirect leads
/// back.
///
/// A request that already has an `Authorization` header is rejected with `.badConfiguration`. The exception is `netrc`,
/// which is ignored in that case.
public struct Authentication: Sendable, Hashable {
    private enum Scheme: Hashable {
        case basic(Credentials)
        case bearer(String)
        case digest(Credentials)
        case netrc(path: String?)
    }

    private let scheme: Scheme

    /// Basic authentication: the user name and password are sent with each request (RFC 7617).
    ///
    /// Only TLS protects them from being read on the way. A colon in the user name is an error.
    public static func basic(_ credentials: Credentials) -> Authentication {
        Authentication(scheme: .basic(credentials))
    }

    /// Bearer authentication: a token is sent with each request (RFC 6750).
    ///
    /// - Parameter token: Letters, digits and `-._~+/`, optionally followed by `=` signs.
    public static func bearer(_ token: String) -> Authentication {
        Authentication(scheme: .bearer(token))
    }

    /// Digest authentication, which proves knowledge of the password without sending it (RFC 7616).
    ///
    /// Uses the strongest algorithm that the server offers, of MD5 and SHA-256. The first request is sent without
    /// credentials, and a second one answers the server's 401 challenge. For this reason a body that can't be replayed
    /// is an error.
    public static func digest(_ credentials: Credentials) -> Authentication {
        Authentication(scheme: .digest(credentials))
    }

    /// Basic authentication with the credentials for the request's host from a `.netrc` file.
    ///
    /// The file is read for each request. If it has no entry for the host, no credentials are sent.
    ///
    /// - Parameter path: The path of the file, or `nil` for `.netrc` in the home directory.
    public static func netrc(path: String? = nil) -> Authentication {
        Authentication(scheme: .netrc(path: path))
    }
}

extension Authentication {
    /// The credentials to answer a Digest challenge with, or `nil` for other schemes.
    package var digestCredentials: Credentials? {
        if case .digest(let credentials) = scheme { return credentials }
        return nil
    }

    /// Returns the value of `Authorization` to send before any challenge, or `nil` to send none.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration`, or `.file` if the `.netrc` file can't be read.
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
    /// The name of the scheme, without the credentials.
    public var description: String {
        switch scheme {
        case .basic: "basic"
        case .bearer: "bearer"
        case .digest: "digest"
        case .netrc: "netrc"
        }
    }

    /// An empty mirror, so that `dump` doesn't show the credentials.
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
