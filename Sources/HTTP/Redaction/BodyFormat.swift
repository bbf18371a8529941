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
    static func isReadable(_ charset: String) -> Bool {
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

/// A body that stays unchanged.
struct UnchangedBody: BodyScan {
    mutating func scan(_ window: BodyWindow, isFinal: Bool) -> Settled {
        Settled(window.bytes.count)
    }
}
