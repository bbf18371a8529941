public import BeagleNetDependencies

/// The translations of the messages of validators.
///
/// ```swift
/// dependencies.formMessages = FormMessages { message in
///     switch message.key {
///     case .required: "não pode ficar vazio"
///     case .tooShort: "precisa de \(message.arguments["minimum"] ?? "") caracteres"
///     default: nil  // the English text
///     }
/// }
/// ```
public struct FormMessages: Sendable {
    /// The English texts.
    public static let english = FormMessages { _ in nil }

    private let translate: @Sendable (FormMessage) -> String?

    /// Creates translations.
    ///
    /// - Parameter translate: Returns the text of a message, or `nil` for the English text. It is called for each error
    ///   of each validation, on any thread.
    public init(_ translate: @escaping @Sendable (FormMessage) -> String?) {
        self.translate = translate
    }

    func text(of message: FormMessage) -> String { translate(message) ?? message.text }
}

extension BeagleDependencies {
    /// The translations of the messages of `FormValidator`, English by default.
    public var formMessages: FormMessages {
        get { self[FormMessagesKey.self] }
        set { self[FormMessagesKey.self] = newValue }
    }
}

enum FormMessagesKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> FormMessages { .english }
}
