import BeagleNetDependencies

extension Form {
    /// An error message of a validator: a key that an app can translate, with the limits that the message mentions.
    public struct Message: Sendable, Hashable {
        /// The key of a message: an open set, which includes the members below.
        public struct Key: RawRepresentable, Sendable, Hashable {
            /// The name of the key, for tables of translations.
            public let rawValue: String

            /// Creates a key with a name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// A required value is missing.
            public static let required = Key(rawValue: "required")
            /// A text has fewer characters than the argument `minimum`.
            public static let tooShort = Key(rawValue: "tooShort")
            /// A text has more characters than the argument `maximum`.
            public static let tooLong = Key(rawValue: "tooLong")
            /// A text doesn't match the argument `pattern`.
            public static let pattern = Key(rawValue: "pattern")
            /// A text isn't an e-mail address.
            public static let email = Key(rawValue: "email")
            /// A value isn't a number.
            public static let number = Key(rawValue: "number")
            /// A number is less than the argument `minimum`.
            public static let tooSmall = Key(rawValue: "tooSmall")
            /// A number is greater than the argument `maximum`.
            public static let tooLarge = Key(rawValue: "tooLarge")
            /// A value isn't equal to that of the input that the argument `input` names.
            public static let notEqual = Key(rawValue: "notEqual")
        }

        /// The key of the message.
        public var key: Key
        /// The English text.
        public var text: String
        /// The limits and names that the message mentions, as text by name; empty by default.
        public var arguments: [String: String]

        /// Creates a message.
        public init(_ key: Key, _ text: String, arguments: [String: String] = [:]) {
            self.key = key
            self.text = text
            self.arguments = arguments
        }

        static let required = Message(.required, "must not be empty")

        /// The translation of the app, or else the English text.
        public var localizedText: String { Beagle.dependencies.formMessages.text(of: self) }
    }
}
