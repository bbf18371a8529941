/// What may be kept of a body.
public enum RedactedBody: Sendable, Hashable {
    /// The body with its secrets replaced.
    case body(Data)
    /// Nothing but its size: nobody can vouch for what is in it.
    case omitted(Reason)

    /// Why a body is not kept. An open set.
    public struct Reason: RawRepresentable, Sendable, Hashable {
        /// The word for logs.
        public let rawValue: String

        /// A reason of this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// It is not what its type says: JSON that is none, a multipart body without its boundary.
        public static let malformed = Reason(rawValue: "malformed")
        /// It breaks off.
        public static let truncated = Reason(rawValue: "truncated")
        /// One value in it, of which only the whole tells what is secret, is longer than 64 KiB.
        public static let tooLong = Reason(rawValue: "too long")
        /// Its text is written in a charset that is not read, or is compressed.
        public static let encoding = Reason(rawValue: "encoding")
        /// It is a multipart body inside of another.
        public static let nested = Reason(rawValue: "nested")
    }

    /// The bytes that may be kept; nil where there are none.
    public var data: Data? {
        if case .body(let data) = self { return data }
        return nil
    }
}

/// A body in which nobody can tell what is secret.
struct Unredactable: Error {
    let reason: RedactedBody.Reason
    /// Where that was found, in bytes from the beginning of what was looked at.
    let place: Int

    init(_ reason: RedactedBody.Reason, at place: Int) {
        self.reason = reason
        self.place = place
    }
}
