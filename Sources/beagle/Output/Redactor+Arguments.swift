import BeagleNetHTTP

extension Redactor {
    /// A word of the command line without what may be a secret in it: the user of a URL, also of one without a scheme,
    /// values of its query, `name=value`, and `Name: value`.
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

    /// A message about the command line, with the words of the command line that it quotes redacted.
    func redact(usage message: String, of arguments: [String]) -> String {
        let words = arguments.flatMap { [$0[...]] + $0.split(separator: "=", maxSplits: 1).dropFirst() }
        return words.map(String.init).reduce(message) { message, word in
            let redacted = redact(argument: word)
            return redacted == word ? message : message.replacing(word, with: redacted)
        }
    }
}
