import ArgumentParser
import BeagleNet
import BeagleNetHTTP

/// The option that declares the members of an app's own components.
struct VocabularyFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Declare a member of a custom component. Roles: image, route, lazy, request, items, template. Repeatable.",
            valueName: "type.member=role"
        )
    )
    var custom: [String] = []

    func validate() throws {
        _ = try vocabulary()
    }

    /// Returns the vocabulary with the members of `--custom`.
    func vocabulary() throws -> ScreenVocabulary {
        var vocabulary = ScreenVocabulary.standard
        for text in custom {
            guard let equals = text.lastIndex(of: "=") else {
                throw ValidationError("'--custom' must be TYPE.MEMBER=ROLE, such as custom:avatar.photoUrl=image.")
            }
            do throws(NetworkError) {
                try vocabulary.declare(
                    String(text[..<equals]),
                    as: .init(rawValue: String(text[text.index(after: equals)...]))
                )
            } catch {
                throw ValidationError("'--custom': \(error.message); \(error.advice ?? "").")
            }
        }
        return vocabulary
    }
}
