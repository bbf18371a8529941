/// A multipart body (RFC 2046, 5.1). It is rewritten part by part, because the text between parts has no meaning.
struct MultipartBody: BodyScan {
    private enum Part {
        /// A part that is scanned by its type.
        case open(Redactor.BodyRedactor, path: String)
        case secret([UInt8], path: String)
        /// The rest of a secret that has already been written.
        case passed
    }

    private let redactor: Redactor
    private let contentType: String
    private var reader: MultipartReader?
    private var part = Part.passed
    private var hasSignIn = false

    init(_ redactor: Redactor, _ contentType: String) {
        self.redactor = redactor
        self.contentType = contentType
    }

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        var settled = Settled(window.bytes.count)
        var output: [UInt8] = []
        do throws(NetworkError) {
            if reader == nil { reader = try MultipartReader(contentType: contentType) }
            reader!.feed(Data(window.bytes[window.seen...]))
        } catch {
            throw Unredactable(error)
        }
        while let element = try next() {
            switch element {
            case .head(let fields): begin(fields, &output, &settled.edits)
            case .body(let bytes): try take(bytes, &output)
            case .end: try end(&output, &settled)
            }
            if case .open(let body, _) = part, body.isMultipart { throw Unredactable(.nested, at: window.origin) }
        }
        if isFinal {
            try finish()
            output += "--\(boundary)--\r\n".utf8
        }
        settled.bytes = output
        return settled
    }

    private var boundary: String { MediaType(contentType)?.parameters["boundary"] ?? "" }

    private mutating func next() throws(Unredactable) -> MultipartReader.Element? {
        do throws(NetworkError) {
            return try reader!.next()
        } catch {
            throw Unredactable(error)
        }
    }

    private func finish() throws(Unredactable) {
        do throws(NetworkError) {
            try reader!.finish()
        } catch {
            // An error in a part is reported before its missing end, regardless of when the part is scanned.
            if case .open(var body, _) = part {
                _ = body.finish()
                if let reason = body.unredactable { throw Unredactable(reason, at: 0) }
            }
            throw Unredactable(error)
        }
    }

    private mutating func begin(_ fields: HTTPFields, _ output: inout [UInt8], _ edits: inout [RedactionEdit]) {
        let parameters = fields[.contentDisposition].flatMap { MediaType("part/" + $0)?.parameters } ?? [:]
        let name = parameters["name"] ?? ""
        let shown = String(decoding: redactor.redactedName(Array(name.utf8)[...]), as: UTF8.self)
        let meaning = redactor.meaning(of: Array(name.utf8)[...])
        if meaning.contains(.signIn) { hasSignIn = true }
        if meaning.isSecret || meaning.contains(.key) || (meaning.contains(.state) && hasSignIn) {
            part = .secret([], path: "part \(shown)")
            if redactor.dropsItems { return }
        } else {
            let isFile = parameters["filename"] != nil || parameters["filename*"] != nil
            let type = fields[.contentType] ?? (isFile ? "application/octet-stream" : "text/plain")
            part = .open(Redactor.BodyRedactor(redactor, contentType: type, at: "part \(shown)"), path: "part \(shown)")
        }
        var head = "--\(boundary)\r\n"
        for (name, value) in redactor.redact(fields) { head += "\(name): \(value)\r\n" }
        output += (head + "\r\n").utf8
    }

    private mutating func take(_ bytes: Data, _ output: inout [UInt8]) throws(Unredactable) {
        let current = part
        // Leaves the buffer with one owner, so that it isn't copied for each piece.
        part = .passed
        switch consume current {
        case .open(var body, let path):
            output += body.feed(bytes)
            if let reason = body.unredactable { throw Unredactable(reason, at: 0) }
            part = .open(body, path: path)
        case .secret(var secret, let path):
            // A secret longer than the window isn't hashed. One byte more is enough to know that.
            secret += bytes.prefix(max(0, TextScan.window + 1 - secret.count))
            part = .secret(secret, path: path)
        case .passed: break
        }
    }

    private mutating func end(_ output: inout [UInt8], _ settled: inout Settled) throws(Unredactable) {
        switch part {
        case .open(var body, _):
            output += body.finish()
            if let reason = body.unredactable { throw Unredactable(reason, at: 0) }
            settled.edits += body.audit.places.map { RedactionEdit(0..<0, "", $0) }
            if body.audit.isTruncated { settled.isTruncated = true }
        case .secret(let secret, let path):
            let text = secret.count > TextScan.window ? Redactor.placeholder : redactor.replacement(for: secret[...])
            if text != nil, !secret.isEmpty { settled.edits.append(RedactionEdit(0..<0, "", path)) }
            if redactor.dropsItems { return part = .passed }
            output += secret.isEmpty ? [] : text.map { Array($0.utf8) } ?? secret
        case .passed: return
        }
        output += "\r\n".utf8
        part = .passed
    }
}

extension Unredactable {
    fileprivate init(_ error: NetworkError) {
        switch error.kind {
        case .truncated: self.init(.truncated, at: 0)
        case .tooLarge: self.init(.tooLong, at: 0)
        default: self.init(.malformed, at: 0)
        }
    }
}
