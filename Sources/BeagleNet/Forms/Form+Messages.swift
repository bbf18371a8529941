public import BeagleNetDependencies

extension Form {
    /// The translations of the messages of validators.
    ///
    /// ```swift
    /// dependencies.formMessages = Form.Messages { message in
    ///     switch message.key {
    ///     case .required: "não pode ficar vazio"
    ///     case .tooShort: "precisa de \(message.arguments["minimum"] ?? "") caracteres"
    ///     default: nil  // the English text
    ///     }
    /// }
    /// ```
    public struct Messages: Sendable {
        /// The English texts.
        public static let english = Messages { _ in nil }

        private let translate: @Sendable (Message) -> String?

        /// Creates translations.
        ///
        /// - Parameter translate: Returns the text of a message, or `nil` for the English text. It is called for each
        ///   error of each validation, on any thread.
        public init(_ translate: @escaping @Sendable (Message) -> String?) {
            self.translate = translate
        }

        func text(of message: Message) -> String { translate(message) ?? message.text }
    }
}

extension BeagleDependencies {
    /// The translations of the messages of `Form.Validator`, English by default.
    public var formMessages: Form.Messages {
        get { self[FormMessagesKey.self] }
        set { self[FormMessagesKey.self] = newValue }
    }
}

enum FormMessagesKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Form.Messages { .english }
}
