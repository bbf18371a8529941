extension ScreenCapabilities {
    /// A difference between a screen and the app's capabilities.
    public struct Finding: Sendable, Hashable {
        /// The kind of a difference: an open set, which includes the members below.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The name of the kind, as in the log.
            public let rawValue: String

            /// Creates a kind with a name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// A component that isn't on the list.
            public static let unknownComponent = Kind(rawValue: "unknown component")
            /// An action that isn't on the list.
            public static let unknownAction = Kind(rawValue: "unknown action")
            /// The fallback screen of an action was taken (`ViewClient.fallback(of:after:)`).
            public static let fallback = Kind(rawValue: "fallback")
        }

        /// The kind of the difference.
        public let kind: Kind
        /// The type of the component or action, at most 128 characters of it.
        public let name: String
        /// The URL of the first screen with it, without secrets; empty for a fallback.
        public let screen: String

        init(_ kind: Kind, _ name: String, screen: String) {
            self.kind = kind
            self.name = String(name.prefix(ScreenCapabilities.maxNameBytes))
            self.screen = screen
        }
    }
}
