/// A request as a `curl` command for a POSIX shell. Each value is quoted, so that the shell reads it as one word.
///
/// Secrets are redacted. The body isn't included: `@body` stands for a body in memory, `@-` for a stream, and a file is
/// given by its path.
package struct CurlCommand: CustomStringConvertible {
    package let description: String

    /// Creates the command for a request.
    ///
    /// - Parameter url: The URL without secrets. By default, the request's URL as redacted by `redactor`.
    package init(_ request: TransferRequest, _ redactor: Redactor, url: String? = nil) {
        let head = request.head
        var words = ["curl"]
        switch head.method {
        case .get where request.body == nil: break
        case .head: words.append("--head")
        case let method: words += ["--request", ShellWord(method.rawValue).text]
        }
        if request.options.redirects.limit > 0 { words.append("--location") }
        if request.options.codings?.isEmpty != true { words.append("--compressed") }
        for (name, value) in redactor.redact(head.headerFields) {
            // With `Name:`, curl would omit the field.
            words += ["--header", ShellWord(value.isEmpty ? "\(name);" : "\(name): \(value)").text]
        }
        if let body = request.body { words += ["--data-binary", ShellWord(body.curlArgument).text] }
        words += Self.words(url: [.text(url ?? redactor.redact(url: head.urlText))])
        description = words.joined(separator: " ")
    }

    /// Returns the words that make curl request the exact URL, without expanding brackets or resolving dot segments.
    package static func words(url: [ShellWord.Part]) -> [String] {
        let text = url.map { if case .text(let text) = $0 { text } else { "" } }.joined()
        var words: [String] = []
        if text.utf8.contains(where: "[]{}".utf8.contains) { words.append("--globoff") }
        if text.contains("/.") { words.append("--path-as-is") }
        return words + ["--url", ShellWord(url).text]
    }
}

extension HTTPBody {
    fileprivate var curlArgument: String {
        switch content {
        case .data: "@body"
        case .file(let path): "@\(path)"
        case .stream: "@-"
        }
    }
}
