/// How a body is looked through, by its type.
enum BodySort {
    case json, document, form, multipart, text, markup, binary, unknown
    /// In a charset whose bytes mean other things than ASCII's.
    case unreadable

    init(_ contentType: String?) {
        guard let contentType, !contentType.isEmpty else {
            self = .unknown
            return
        }
        guard let type = MediaType(contentType) else {
            self = .unknown
            return
        }
        self = Self.sort(of: type.essence)
        if self != .binary, let charset = type.parameters["charset"], !Self.isReadable(charset.lowercased()) {
            self = .unreadable
        }
    }

    private static func sort(of essence: String) -> BodySort {
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
        case _ where essence.hasPrefix("multipart/"): .multipart
        case _ where essence.hasSuffix("+json"): .json
        case _ where essence.hasSuffix("+xml"): .markup
        case _ where essence.hasPrefix("text/"): .text
        case _ where essence.hasPrefix("application/grpc"): .binary
        case _ where ["image/", "audio/", "video/", "font/"].contains(where: essence.hasPrefix): .binary
        default: .unknown
        }
    }

    /// Whether in this charset the bytes of ASCII stand for its characters and for nothing else.
    private static func isReadable(_ charset: String) -> Bool {
        ["utf-8", "utf8", "us-ascii", "ascii", "latin1", "macintosh", "euc-jp", "euc-kr"].contains(charset)
            || ["iso-8859-", "iso8859-", "windows-125", "cp125", "koi8-"].contains { charset.hasPrefix($0) }
    }

    func scan(_ redactor: Redactor, _ contentType: String?) -> any BodyScan {
        switch self {
        case .json: JSONBody(redactor)
        case .document: DocumentBody(redactor: redactor)
        case .form: FormBody(redactor)
        case .multipart: MultipartBody(redactor, contentType ?? "")
        case .text: UnknownBody(redactor) { TextBody(redactor: $0, rules: [.all, .lines]) }
        case .markup: TextBody(redactor: redactor, rules: .urls)
        case .binary, .unreadable: OpenBody()
        case .unknown: UnknownBody(redactor) { BinaryOrText(redactor: $0) }
        }
    }
}

/// A body that is no JSON and of a type that tells nothing: text, unless a byte in it says that it is none.
private struct BinaryOrText: BodyScan {
    let redactor: Redactor
    private var scan: (any BodyScan)?

    init(redactor: Redactor) {
        self.redactor = redactor
    }

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        if scan == nil {
            // A window has come, or all there is.
            let isBinary = window.bytes.prefix(TextScan.window).contains { $0 < 0x20 && !$0.isSpace && $0 != 0x1B }
            scan = isBinary ? OpenBody() : TextBody(redactor: redactor, rules: [.all, .lines])
        }
        return try scan!.scan(window, isFinal: isFinal)
    }
}
