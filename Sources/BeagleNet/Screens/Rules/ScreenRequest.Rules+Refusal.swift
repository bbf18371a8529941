import BeagleNetHTTP

extension ScreenRequest.Rules {
    /// The reason why a request of a screen isn't sent, as `NetworkError.underlying`.
    public struct Refusal: Error, Sendable, Hashable {
        /// A rule: an open set, which includes the members below.
        public struct Rule: RawRepresentable, Sendable, Hashable {
            /// The name of the rule.
            public let rawValue: String

            /// Creates a rule with a name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// The scheme isn't allowed.
            public static let scheme = Rule(rawValue: "scheme")
            /// A screen with https asks for http.
            public static let downgrade = Rule(rawValue: "downgrade")
            /// The origin is neither the screen's nor declared, and its host isn't allowed.
            public static let host = Rule(rawValue: "host")
            /// The method isn't allowed at the origin.
            public static let method = Rule(rawValue: "method")
            /// The header field isn't allowed.
            public static let field = Rule(rawValue: "field")
        }

        /// The rule that forbids the request.
        public let rule: Rule
        /// The URL of the screen without secrets; empty if it isn't known.
        public let screen: String
        /// The position of the URL, method or field as a JSON pointer (RFC 6901).
        ///
        /// It begins at the screen if the action was read with its own pointer, as those of a `ScreenForm` are, and
        /// otherwise at the action.
        public let pointer: String
    }
}
