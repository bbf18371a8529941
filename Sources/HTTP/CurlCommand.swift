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
        case let method: words += ["--request", Self.word(method.rawValue)]
        }
        if request.options.redirects.limit > 0 { words.append("--location") }
        if request.options.codings?.isEmpty != true { words.append("--compressed") }
        for (name, value) in redactor.redact(head.headerFields) {
            // curl takes `Name:` for a wish to leave the field out.
            words += ["--header", Self.word(value.isEmpty ? "\(name);" : "\(name): \(value)")]
        }
        if let body = request.body { words += ["--data-binary", Self.word(body.curlArgument)] }
        words += ["--url", Self.word(url ?? redactor.redact(url: head.urlText))]
        description = words.joined(separator: " ")
    }

    /// Quoted where the shell could read more into it.
    private static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-._/:@%+=,".utf8.contains(byte)
            }
        }
        guard !isPlain || text.isEmpty else { return text }
        let parts = text.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
        return "'\(parts.map(String.init).joined(separator: "'\\''"))'"
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
