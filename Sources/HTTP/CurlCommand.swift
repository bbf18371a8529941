/// A message as a command of `curl`, to be run in a POSIX shell: whatever a value holds, the shell reads it as one word.
///
/// Secrets are left out, as everywhere. A body is named, not quoted: `@body` stands for one in memory, `@-` for a stream.
package struct CurlCommand: CustomStringConvertible {
    package let description: String

    /// - Parameter url: the URL, without secrets; the redactor's form of the message's by default.
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
            // curl takes `Name:` for a wish to leave the field out.
            words += ["--header", ShellWord(value.isEmpty ? "\(name);" : "\(name): \(value)").text]
        }
        if let body = request.body { words += ["--data-binary", ShellWord(body.curlArgument).text] }
        words += Self.words(url: [.text(url ?? redactor.redact(url: head.urlText))])
        description = words.joined(separator: " ")
    }

    /// The URL as it is, in which curl would otherwise take brackets for patterns, and resolve dots.
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
