import BeagleNetHTTP

extension Redactor {
    /// Redacts a command line argument: the user of a URL, even of one without a scheme, values of its query,
    /// `name=value`, and `Name: value`.
    func redact(argument text: String) -> String {
        let header = HeaderLine(argument: text)
        if let name = header.name, header.value != nil, isSecret(header: name.canonicalName) {
            return "\(name): \(Self.placeholder)"
        }
        if [":/", ":\\"].contains(where: text.contains) || text.hasPrefix("/") { return redact(url: text) }
        if !text.contains("?"), !text.contains("/"), text.contains("=") {
            return String(redact(url: "?\(text)").dropFirst())
        }
        return String(redact(url: "//\(text)").dropFirst(2))
    }

    /// Redacts the arguments that a message about the command line quotes.
    func redact(usage message: String, of arguments: [String]) -> String {
        let words = arguments.flatMap { [$0[...]] + $0.split(separator: "=", maxSplits: 1).dropFirst() }
        return words.map(String.init).reduce(message) { message, word in
            let redacted = redact(argument: word)
            return redacted == word ? message : message.replacing(word, with: redacted)
        }
    }
}
