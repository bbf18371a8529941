import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension LogEntry {
    /// Returns a `curl` command for a POSIX shell that sends the request again, with the same method, URL, header
    /// fields and body.
    ///
    /// Any bytes are supported. Redirects are not followed, because each redirect is an entry. A removed secret is
    /// replaced by a variable named after its field, such as `"${TOKEN:?}"`, and the command fails if it is not set.
    /// Parts that cannot be sent are listed in a comment before the command. If secrets were removed without a
    /// placeholder, the command doesn't run at all.
    ///
    /// - Parameters:
    ///   - body: the body's bytes; by default those of the entry, which doesn't contain bodies in files.
    ///   - bodyFile: a file with these bytes, which is sent instead of bytes in the command.
    public func curlCommand(body: Data? = nil, bodyFile: String? = nil) -> String {
        EntryCommand(self, body ?? request.body?.inlineData, bodyFile).text
    }
}

extension LogEntry.Body {
    /// The bytes if the entry contains them.
    var inlineData: Data? {
        if case .data(let data) = content { return data }
        return nil
    }
}

/// A builder of the command for an entry.
private struct EntryCommand {
    /// The maximum size of an argument in bytes; longer bodies are piped. Linux limits an argument to 131,071 bytes.
    private static let argumentLimit = 100_000

    private let request: LogEntry.Request
    private let redactions: [String]
    private let body: Data?
    private let bodyFile: String?
    private var variables = SecretVariables()
    private var words = ["curl"]
    private var comments: [String] = []
    /// The command whose output is piped into curl.
    private var pipe = ""

    init(_ entry: LogEntry, _ body: Data?, _ bodyFile: String?) {
        request = entry.request
        redactions = entry.redactions
        self.body = body
        self.bodyFile = bodyFile
        addMethod()
        addVersion()
        addFields()
        addBody()
        words += CurlCommand.words(url: variables.parts(of: request.url.withoutControlCharacters))
    }

    var text: String {
        let lost = lost
        let command =
            (lost.isEmpty ? "" : "false && ") + pipe
            + words.dropFirst().reduce(words[0]) { text, word in
                text + (word.hasPrefix("--") ? " \\\n  " : " ") + word
            }
        let comments = comments + lost.map { "this does not run, because the recording lacks secrets: \($0)" }
        return comments.map { "# \($0.withoutControlCharacters)\n" }.joined() + command
    }

    /// The places of parts from which more secrets were removed than they have placeholders. Each place needs at least
    /// one.
    private var lost: [String] {
        let sent = body.map { String(decoding: $0, as: UTF8.self) }
        let fields = request.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        let parts = [
            ("request.url:", request.url), ("request.headers.", fields),
            ("request.postData.text:", sent), ("request.postData.params", sent),
        ]
        return parts.flatMap { prefix, text -> [String] in
            guard let text else { return [] }
            // Fragments and HTTP/2 pseudo-header fields are not sent.
            let places = redactions.filter { place in
                place.hasPrefix(prefix) && !place.hasPrefix("request.url:#") && !place.hasPrefix("request.headers.:")
            }
            return text.ranges(of: Redactor.placeholder).count < places.count ? places : []
        }
    }

    private var method: String { request.method.filter { $0.isASCII && !$0.isWhitespace }.withoutControlCharacters }
    private var hasBody: Bool { body != nil || bodyFile != nil }

    private mutating func addMethod() {
        if method == "HEAD", !hasBody { return words.append("--head") }
        if method != "GET" || hasBody { words += ["--request", ShellWord(method).text] }
    }

    /// Adds the HTTP version if curl would choose another one.
    private mutating func addVersion() {
        let isSecure = request.url.lowercased().hasPrefix("https:")
        let version = request.httpVersion.lowercased()
        if isSecure, version == "http/1.1" { words.append("--http1.1") }
        if !isSecure, ["http/2", "http/2.0", "h2"].contains(version) { words.append("--http2-prior-knowledge") }
    }

    private mutating func addFields() {
        let place = request.url.unicodeScalars.firstRange(of: "://".unicodeScalars)?.upperBound
        let authority = place.map { String(request.url[$0...].prefix { $0 != "/" && $0 != "?" }) } ?? ""
        // Invalid names are HTTP/2 pseudo-header fields, or attacks.
        for field in request.fields(for: body) where HTTPField.Name(field.name) != nil {
            switch field.name.lowercased() {
            case "content-length": continue
            case "transfer-encoding" where !hasBody: continue
            case "host" where field.value.lowercased() == authority.lowercased(): continue
            case "accept-encoding": words.append("--compressed")
            default: break
            }
            let value = field.value.withoutControlCharacters
            let parts = variables.parts(of: value, in: field.name)
            words += ["--header", value.isEmpty ? ShellWord("\(field.name);").text : word(field.name, parts)]
        }
        // The fields that curl would add.
        var added = ["User-Agent", "Accept"]
        if hasBody { added.append("Content-Type") }
        // With `Expect`, curl would wait for a response before it sends a long body.
        if bodyFile != nil || body?.count ?? 0 > 1000 { added.append("Expect") }
        for name in added where request.fields[name] == nil { words += ["--header", ShellWord("\(name):").text] }
    }

    private func word(_ name: String, _ parts: [ShellWord.Part]) -> String {
        guard case .text(let text) = parts.first else { return ShellWord([.text("\(name): ")] + parts).text }
        return ShellWord([.text("\(name): \(text)")] + parts.dropFirst()).text
    }

    private mutating func addBody() {
        addComments()
        guard let data = body ?? (bodyFile == nil ? nil : Data()) else {
            // An empty body that was announced explicitly.
            if request.fields["Content-Length"] == "0" { words += ["--data-raw", "''"] }
            return
        }
        if let bodyFile { return words += ["--data-binary", ShellWord("@\(bodyFile)").text] }
        if data.count <= Self.argumentLimit, let text = String(validating: data, as: UTF8.self), !text.utf8.contains(0)
        {
            // `--data-binary` would interpret a leading @ as a file name.
            return words += ["--data-raw", ShellWord(variables.parts(of: text)).text]
        }
        words += ["--data-binary", "@-"]
        pipe = printing(data) + " | "
    }

    private mutating func addComments() {
        guard let body = request.body else { return }
        switch body.content {
        case .omitted(let reason): comments.append("the body was not recorded: \(reason)")
        case .parameters where self.body == nil:
            comments.append("only the fields of the body were recorded, so it is not sent")
        case .file where !hasBody: comments.append("the body is in a file that cannot be read")
        default: break
        }
        if body.isTruncated { comments.append("only the beginning of the body's \(body.size) bytes was recorded") }
    }

    /// Returns a shell command that prints any bytes.
    private mutating func printing(_ data: Data) -> String {
        // One scalar per byte, so that placeholders are found even if the bytes aren't text.
        var text = String.UnicodeScalarView()
        text.append(contentsOf: data.lazy.map { Unicode.Scalar($0) })
        var (format, arguments) = ("", "")
        for part in variables.parts(of: String(text)) {
            switch part {
            case .variable(let name):
                format += "%s"
                arguments += " \"$\(name)\""
            case .text(let text):
                for scalar in text.unicodeScalars { format += Self.escaped(scalar) }
            }
        }
        // An unset variable in a pipe wouldn't stop curl, which would send an incomplete body.
        let checks =
            arguments.isEmpty
            ? ""
            : ": "
                + arguments.split(separator: " ").map { $0.dropLast() + ":?}\"" }
                .joined(separator: " ").replacing("\"$", with: "\"${") + " && "
        return "\(checks)printf -- '\(format)'\(arguments)"
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "%": return "%%"
        case "\\": return "\\\\"
        case " "..."~" where scalar != "'": return String(scalar)
        default:
            let octal = String(scalar.value, radix: 8)
            return "\\" + String(repeating: "0", count: 3 - octal.count) + octal
        }
    }
}

extension String {
    /// The text with control characters that would end a line or an argument replaced by spaces.
    fileprivate var withoutControlCharacters: String {
        var text = String.UnicodeScalarView()
        text.append(
            contentsOf: unicodeScalars.lazy.map { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F ? " " : $0 }
        )
        return String(text)
    }
}
