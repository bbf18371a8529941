/// The format of a body, which determines how it is scanned.
enum BodyFormat {
    case json, document, form, multipart, text, markup, binary, octetStream, unknown
    /// Text in a charset whose bytes don't agree with ASCII.
    case unreadable

    init(_ contentType: String?) {
        // The most common value.
        if contentType == "application/json" {
            self = .json
            return
        }
        guard let type = contentType.flatMap(MediaType.init) else {
            self = .unknown
            return
        }
        self = Self.format(of: type.essence)
        if self != .binary, let charset = type.parameters["charset"], !Self.isReadable(charset.lowercased()) {
            self = .unreadable
        }
    }

    private static func format(of essence: String) -> BodyFormat {
        switch essence {
        case "application/json", "text/json", "application/x-ndjson", "application/ndjson", "application/jsonl",
            "application/json-seq", "application/x-json", "application/jsonlines":
            .json
        case "application/graphql": .document
        case "application/x-www-form-urlencoded": .form
        case "text/html", "text/xml", "text/css", "text/javascript", "application/xml", "application/javascript",
            "application/x-javascript", "application/ecmascript", "image/svg+xml":
            .markup
        case "application/protobuf", "application/x-protobuf", "application/vnd.google.protobuf", "application/zip",
            "application/gzip", "application/pdf", "application/wasm":
            .binary
        case "application/octet-stream": .octetStream
        case _ where essence.hasPrefix("multipart/"): .multipart
        case _ where essence.hasSuffix("+json"): .json
        case _ where essence.hasSuffix("+xml"): .markup
        case _ where essence.hasPrefix("text/"): .text
        case _ where essence.hasPrefix("application/grpc"): .binary
        case _ where ["image/", "audio/", "video/", "font/"].contains(where: essence.hasPrefix): .binary
        default: .unknown
        }
    }

    /// Returns whether the ASCII bytes in this charset always stand for ASCII characters.
    private static func isReadable(_ charset: String) -> Bool {
        ["utf-8", "utf8", "us-ascii", "ascii", "latin1", "macintosh", "euc-jp", "euc-kr"].contains(charset)
            || ["iso-8859-", "iso8859-", "windows-125", "cp125", "koi8-"].contains { charset.hasPrefix($0) }
    }

    func scan(_ redactor: Redactor, _ contentType: String?) -> any BodyScan {
        switch self {
        case .json: JSONBody(redactor)
        case .document: DocumentBody(redactor: redactor)
        // curl's `-d` declares any body as a form.
        case .form: UnknownBody(redactor) { FormBody($0) }
        case .multipart: MultipartBody(redactor, contentType ?? "")
        case .text: UnknownBody(redactor) { TextBody(redactor: $0, rules: [.all, .lines]) }
        case .markup: UnknownBody(redactor) { TextBody(redactor: $0, rules: .markup) }
        case .binary, .unreadable: UnchangedBody()
        case .octetStream: UnknownBody(redactor) { BinaryOrText(redactor: $0, isOctets: true) }
        case .unknown: UnknownBody(redactor) { BinaryOrText(redactor: $0, isOctets: false) }
        }
    }
}

/// A body of unknown type that isn't JSON: text, unless a byte shows that it is binary.
private struct BinaryOrText: BodyScan {
    let redactor: Redactor
    /// Whether the type says that the bytes aren't text, so that any control byte means binary. Otherwise the bytes
    /// must also be invalid UTF-8, because STOMP frames contain control bytes.
    let isOctets: Bool
    private var scan: (any BodyScan)?

    init(redactor: Redactor, isOctets: Bool) {
        self.redactor = redactor
        self.isOctets = isOctets
    }

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        if scan == nil {
            // The window is full, or the body is complete.
            scan =
                isBinary(window.bytes.prefix(TextScan.window))
                ? UnchangedBody() : TextBody(redactor: redactor, rules: [.all, .lines], allowsZero: true)
        }
        return try scan!.scan(window, isFinal: isFinal)
    }

    private func isBinary(_ beginning: ArraySlice<UInt8>) -> Bool {
        guard beginning.contains(where: { $0 < 0x20 && !$0.isSpace && $0 != 0x1B }) else { return false }
        // The last character may be incomplete.
        return isOctets || (0...3).allSatisfy { String(validating: beginning.dropLast($0), as: UTF8.self) == nil }
    }
}
