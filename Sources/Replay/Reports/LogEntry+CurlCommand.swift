import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension LogEntry {
    /// The message as a command of `curl` for a POSIX shell, which sends the same method, URL, header fields and body,
    /// whatever bytes they hold. Redirects are not followed: each hop is an entry.
    ///
    /// Where a secret was taken out, the command takes it from a variable named after its field, as `"${TOKEN:?}"`, and does
    /// not run where that is not set. What cannot be sent again is said in a comment before it; where secrets were left out
    /// and nothing stands in their place, it does not run at all.
    ///
    /// - Parameters:
    ///   - body: the body's bytes; those of the entry by default, which does not hold one that is in a file.
    ///   - bodyFile: a file with these bytes, to be sent instead of bytes in the command.
    public func curlCommand(body: Data? = nil, bodyFile: String? = nil) -> String {
        EntryCommand(self, body ?? request.body?.heldData, bodyFile).text
    }
}

extension LoggedBody {
    /// The bytes, where they are in the entry.
    var heldData: Data? {
        if case .data(let data) = content { return data }
        return nil
    }
}

/// Puts together the command of an entry.
private struct EntryCommand {
    /// Longer ones go through a pipe: Linux lets no argument have more than 131,071 bytes.
    private static let argumentLimit = 100_000

    private let request: LoggedRequest
    private let redactions: [String]
    private let body: Data?
    private let bodyFile: String?
    private var variables = SecretVariables()
    private var words = ["curl"]
    private var comments: [String] = []
    /// What is written into curl's standard input.
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
        words += CurlCommand.words(url: variables.parts(of: request.url.withoutControls))
    }

    var text: String {
        let lost = lost
        let command =
            (lost.isEmpty ? "" : "false && ") + pipe
            + words.dropFirst().reduce(words[0]) { text, word in
                text + (word.hasPrefix("--") ? " \\\n  " : " ") + word
            }
        let comments = comments + lost.map { "this does not run, because the recording lacks secrets: \($0)" }
        return comments.map { "# \($0.withoutControls)\n" }.joined() + command
    }

    /// Where more secrets were taken out of a part than it has placeholders; a place is told once, and has one at least.
    private var lost: [String] {
        let sent = body.map { String(decoding: $0, as: UTF8.self) }
        let fields = request.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        let parts = [
            ("request.url:", request.url), ("request.headers.", fields),
            ("request.postData.text:", sent), ("request.postData.params", sent),
        ]
        return parts.flatMap { prefix, text -> [String] in
            guard let text else { return [] }
            // Fragments and the pseudo fields of HTTP/2 are not sent.
            let places = redactions.filter { place in
                place.hasPrefix(prefix) && !place.hasPrefix("request.url:#") && !place.hasPrefix("request.headers.:")
            }
            return text.ranges(of: Redactor.placeholder).count < places.count ? places : []
        }
    }

    private var method: String { request.method.filter { $0.isASCII && !$0.isWhitespace }.withoutControls }
    private var hasBody: Bool { body != nil || bodyFile != nil }

    private mutating func addMethod() {
        if method == "HEAD", !hasBody { return words.append("--head") }
        if method != "GET" || hasBody { words += ["--request", ShellWord(method).text] }
    }

    /// Where curl would choose another.
    private mutating func addVersion() {
        let isSecure = request.url.lowercased().hasPrefix("https:")
        let version = request.httpVersion.lowercased()
        if isSecure, version == "http/1.1" { words.append("--http1.1") }
        if !isSecure, ["http/2", "http/2.0", "h2"].contains(version) { words.append("--http2-prior-knowledge") }
    }

    private mutating func addFields() {
        let place = request.url.unicodeScalars.firstRange(of: "://".unicodeScalars)?.upperBound
        let authority = place.map { String(request.url[$0...].prefix { $0 != "/" && $0 != "?" }) } ?? ""
        // Names that no field can have are those of HTTP/2's pseudo fields, and attacks.
        for field in request.fields(for: body) where HTTPField.Name(field.name) != nil {
            switch field.name.lowercased() {
            case "content-length": continue
            case "transfer-encoding" where !hasBody: continue
            case "host" where field.value.lowercased() == authority.lowercased(): continue
            case "accept-encoding": words.append("--compressed")
            default: break
            }
            let value = field.value.withoutControls
            let parts = variables.parts(of: value, in: field.name)
            words += ["--header", value.isEmpty ? ShellWord("\(field.name);").text : word(field.name, parts)]
        }
        // What curl would add.
        var added = ["User-Agent", "Accept"]
        if hasBody { added.append("Content-Type") }
        // It would wait for an answer before it sends a long body.
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
            // Said with no bytes at all, as it was sent.
            if request.fields["Content-Length"] == "0" { words += ["--data-raw", "''"] }
            return
        }
        if let bodyFile { return words += ["--data-binary", ShellWord("@\(bodyFile)").text] }
        if data.count <= Self.argumentLimit, let text = String(validating: data, as: UTF8.self), !text.utf8.contains(0)
        {
            // Not `--data-binary`, which takes a leading @ for a file's name.
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

    /// A command of the shell that prints any bytes.
    private mutating func printing(_ data: Data) -> String {
        // A scalar for each byte, so that what was taken out is found among bytes that are no text.
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
        // In a pipe a variable that is not set would leave the body out, and curl would run.
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
    /// The text with spaces for what would end a line, or an argument.
    fileprivate var withoutControls: String {
        var text = String.UnicodeScalarView()
        text.append(
            contentsOf: unicodeScalars.lazy.map { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F ? " " : $0 }
        )
        return String(text)
    }
}
