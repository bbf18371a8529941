extension Redactor {
    /// The result of redacting a body.
    public enum RedactedBody: Sendable, Hashable {
        /// The body with its secrets replaced.
        case body(Data)
        /// No body, because it can't be checked for secrets.
        ///
        /// Only its size may be stored.
        case omitted(Reason)

        /// The reason for omitting a body.
        ///
        /// The set is open.
        public struct Reason: RawRepresentable, Sendable, Hashable {
            /// The reason in words, for logs.
            public let rawValue: String

            /// Creates a reason from its text.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// The body doesn't match its type, such as invalid JSON or a multipart body without a boundary.
            public static let malformed = Reason(rawValue: "malformed")
            /// The body is incomplete.
            public static let truncated = Reason(rawValue: "truncated")
            /// A value that can be checked only as a whole is longer than 64 KiB.
            public static let tooLong = Reason(rawValue: "too long")
            /// The text is compressed or in an unsupported charset.
            public static let encoding = Reason(rawValue: "encoding")
            /// The body is a multipart body inside another one.
            public static let nested = Reason(rawValue: "nested")
        }

        /// The redacted body, or `nil` if it was omitted.
        public var data: Data? {
            if case .body(let data) = self { return data }
            return nil
        }
    }
}

/// An error for a body that can't be checked for secrets.
struct Unredactable: Error {
    let reason: Redactor.RedactedBody.Reason
    /// The position of the problem, in bytes from the beginning of the scanned data.
    let place: Int

    init(_ reason: Redactor.RedactedBody.Reason, at place: Int) {
        self.reason = reason
        self.place = place
    }
}
