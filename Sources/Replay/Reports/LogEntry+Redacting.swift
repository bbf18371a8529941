public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LogEntry {
    /// Returns the entry with its secrets replaced in all parts; `redactions` names the places.
    ///
    /// A body that cannot be checked for secrets is omitted. An entry that was redacted when it was recorded doesn't
    /// change.
    ///
    /// A body in a file is not redacted; redact its bytes when reading them.
    public func redacted(by redactor: Redactor) -> LogEntry {
        var redaction = EntryRedaction(redactor: redactor)
        var entry = self
        redaction.redact(&entry)
        return entry
    }

    /// Returns the places of remaining secrets in an entry that should be redacted.
    ///
    /// - Parameter redactor: the redactor whose rules apply.
    public func findings(by redactor: Redactor = Redactor()) -> [String] {
        var redaction = EntryRedaction(redactor: redactor)
        var entry = self
        redaction.redact(&entry)
        return redaction.places
    }
}

/// A redaction of an entry, which records the places of secrets.
struct EntryRedaction {
    private let redactor: Redactor
    /// Whether bodies are redacted elsewhere.
    fileprivate let leavesBodies: Bool
    private var audit = Redactor.Audit()
    /// The bodies that cannot be checked for secrets.
    private var opaque: [String] = []
    /// A cache of texts that don't have to be checked again.
    private let cleanTexts: CleanTextCache?

    init(redactor: Redactor, leavesBodies: Bool = false, cleanTexts: CleanTextCache? = nil) {
        self.redactor = redactor
        self.leavesBodies = leavesBodies
        self.cleanTexts = cleanTexts
        cleanTexts?.use(redactor)
    }

    var places: [String] { audit.places + opaque }

    mutating func redact(_ entry: inout LogEntry) {
        // The redaction of a body depends on its original fields.
        let whole = leavesBodies ? nil : entry.request
        let (sent, received) = (entry.request.body, entry.response?.body)
        entry.request.url = redacted(url: entry.request.url, at: "request.url")
        redact(&entry.request.fields, at: "request.headers")
        entry.request.body?.redact(by: &self, of: whole)
        entry.response?.redact(by: &self)
        if let bytes = entry.request.body?.left(of: sent) { entry.setBodySize(bytes, of: .request) }
        if let bytes = entry.response?.body.left(of: received) { entry.setBodySize(bytes, of: .response) }
        entry.operationName = entry.operationName.map { redacted(text: $0, at: "_beagle.operationName") }
        entry.error = entry.error.map { redacted(text: $0, at: "_error") }
        // Archives may contain any text here.
        entry.request.method = redacted(text: entry.request.method, at: "request.method")
        entry.request.httpVersion = redacted(text: entry.request.httpVersion, at: "request.httpVersion")
        entry.serverAddress = entry.serverAddress.map { redacted(text: $0, at: "serverIPAddress") }
        entry.connection = entry.connection.map { redacted(text: $0, at: "connection") }
        entry.kind = entry.kind.map { redacted(text: $0, at: "_beagle.kind") }
        for index in entry.messages.indices {
            entry.messages[index] = redacted(entry.messages[index], at: "_webSocketMessages[\(index)].data")
        }
        if !entry.unknownMembers.isEmpty { entry.unknownMembers = entry.unknownMembers.compactMap { redacted($0) } }
        let known = entry.redactions
        entry.redactions += places.filter { !known.contains($0) }
    }

    fileprivate mutating func redact(_ fields: inout [LogEntry.Field], at place: String) {
        let unknown = fields.indices.filter { !isKnownClean(fields[$0]) }
        // In reverse order, because fields may be removed.
        var shown = unknown.map { redacted(fields[$0], at: place) }
        for index in unknown.reversed() {
            if let field = shown.removeLast() { fields[index] = field } else { fields.remove(at: index) }
        }
    }

    private func isKnownClean(_ field: LogEntry.Field) -> Bool {
        cleanTexts?.contains(field.value, .field, name: field.name) == true
    }

    private mutating func redacted(_ field: LogEntry.Field, at place: String) -> LogEntry.Field? {
        guard let name = HTTPField.Name(field.name) else {
            // HTTP/2's `:path` may contain secrets. Fields with other invalid names cannot be checked.
            let isPseudo = [":path", ":authority", ":method", ":scheme", ":status"].contains(field.name)
            let value =
                isPseudo
                ? redactor.redact(url: field.value, at: "\(place).\(field.name)", recordingTo: &audit)
                : Redactor.placeholder
            return LogEntry.Field(field.name, value)
        }
        // Control characters are replaced by spaces, because the rules don't expect them.
        let value = HTTPField.isValidValue(field.value) ? field.value : HTTPField(name: name, value: field.value).value
        guard let shown = redactor.redact(value, ofField: field.name, at: place, recordingTo: &audit) else {
            return nil
        }
        if shown == field.value { cleanTexts?.insert(field.value, .field, name: field.name) }
        return LogEntry.Field(field.name, shown)
    }

    fileprivate mutating func redacted(url: String, at place: String) -> String {
        if url.isEmpty || cleanTexts?.contains(url, .url) == true { return url }
        let redacted = redactor.redact(url: url, at: place, recordingTo: &audit)
        if redacted == url { cleanTexts?.insert(url, .url) }
        return redacted
    }

    fileprivate mutating func redacted(text: String, at place: String) -> String {
        if text.isEmpty || cleanTexts?.contains(text, .text) == true { return text }
        let redacted = redactor.redact(text: text, at: place, recordingTo: &audit)
        if redacted == text { cleanTexts?.insert(text, .text) }
        return redacted
    }

    /// Redacts a body, unless bodies are redacted elsewhere.
    fileprivate mutating func redact(
        _ content: inout LogEntry.Body.Content,
        _ charset: Charset?,
        of mediaType: String,
        at place: String
    ) {
        switch content {
        case .data where leavesBodies: break
        case .data(let data):
            let redacted = redactor.redact(decoding: data, charset, mediaType, at: "\(place).text", recordingTo: &audit)
            switch redacted {
            case .body(let redacted): content = .data(redacted)
            case .omitted(let reason): omit(&content, reason, at: place)
            }
        case .parameters(let parameters): content = .parameters(redacted(parameters, at: "\(place).params"))
        case .file, .omitted: break
        }
    }

    fileprivate mutating func omit(
        _ content: inout LogEntry.Body.Content,
        _ reason: Redactor.RedactedBody.Reason,
        at place: String
    ) {
        opaque.append("\(place).text:[\(reason.rawValue)]")
        content = .omitted("unredactable")
    }

    private mutating func redacted(_ fields: [LogEntry.Parameter], at place: String) -> [LogEntry.Parameter] {
        let form = FormRedaction(redactor, fields)
        return fields.compactMap { field in
            let (shown, isSecret) = form.redacted(field, at: place, recordingTo: &audit)
            if isSecret { opaque.append("\(place).\(redactor.redact(text: field.name).prefix(64))") }
            return shown
        }
    }

    mutating func redacted(_ message: LogEntry.Message, at place: String) -> LogEntry.Message {
        var message = message
        // Binary messages are also checked, because they may contain JSON.
        switch redactor.redact(body: message.data, contentType: nil, at: place, recordingTo: &audit) {
        case .body(let data): message.data = data
        case .omitted(let reason):
            opaque.append("\(place):[\(reason.rawValue)]")
            message.data = Data(Redactor.placeholder.utf8)
        }
        return message
    }

    /// Redacts a comment; returns `nil` if it isn't a string.
    private mutating func redactedComment(_ member: LogEntry.UnknownMember, at place: String) -> LogEntry.UnknownMember?
    {
        guard let text = (try? ParsedJSON(Data(member.json.utf8)))?.root.string else { return nil }
        let redacted = redactor.redact(text: text, at: place, recordingTo: &audit)
        return redacted == text ? member : member.with(json: "\(JSONValue.string(redacted))")
    }

    /// Redacts an unknown member.
    ///
    /// - Returns: `nil` if the member cannot be checked for secrets.
    private mutating func redacted(_ member: LogEntry.UnknownMember) -> LogEntry.UnknownMember? {
        let place = member.place.isEmpty ? member.name : "\(member.place).\(member.name)"
        if member.name == "comment", let member = redactedComment(member, at: place) { return member }
        let json = Data(member.json.utf8)
        // Redacted within an object, because the member's name may mark it as secret.
        let named =
            Data(#"{"\#(member.name.filter { $0.isLetter || $0.isNumber || $0 == "_" })":"#.utf8) + json
            + Data("}".utf8)
        let start = named.count - json.count - 1
        guard
            let data = redactor.redact(body: named, contentType: "application/json", at: place, recordingTo: &audit)
                .data
        else {
            opaque.append("\(place):[malformed]")
            return nil
        }
        // The redactor may have removed the member.
        guard data.count > start else { return nil }
        return member.with(json: String(decoding: data.dropFirst(start).dropLast(), as: UTF8.self))
    }
}

extension LogEntry.UnknownMember {
    fileprivate func with(json: String) -> LogEntry.UnknownMember {
        LogEntry.UnknownMember(place: place, name: name, json: json)
    }
}

extension LogEntry.Response {
    fileprivate mutating func redact(by redaction: inout EntryRedaction) {
        statusText = redaction.redacted(text: statusText, at: "response.statusText")
        httpVersion = redaction.redacted(text: httpVersion, at: "response.httpVersion")
        redaction.redact(&fields, at: "response.headers")
        redaction.redact(&trailers, at: "_beagle.trailers")
        redirectURL = redaction.redacted(url: redirectURL, at: "response.redirectURL")
        body.redact(by: &redaction, redaction.leavesBodies ? nil : charset, at: "response.content")
        for index in interim.indices {
            redaction.redact(&interim[index].fields, at: "_beagle.interim[\(index)].headers")
        }
    }
}

extension LogEntry.Body {
    fileprivate mutating func redact(by redaction: inout EntryRedaction, _ charset: Charset?, at place: String) {
        mediaType = redaction.redacted(text: mediaType, at: "\(place).mimeType")
        redaction.redact(&content, charset, of: mediaType, at: place)
    }

    /// Redacts a body after decoding it, because a content-coded body cannot be checked.
    ///
    /// - Parameter request: the original request; `nil` if bodies are redacted elsewhere.
    fileprivate mutating func redact(by redaction: inout EntryRedaction, of request: LogEntry.Request?) {
        let place = "request.postData"
        if let request, request.coding != nil, case .data(let data) = content {
            if let readable = request.readable(data) {
                content = .data(readable)
                if readable != data { size = Int64(readable.count) }
            } else {
                redaction.omit(&content, .encoding, at: place)
            }
        }
        redact(by: &redaction, request?.charset, at: place)
    }

    /// Returns the size of a redacted body in bytes, or -1 if unknown; `nil` if it wasn't changed or is incomplete.
    fileprivate func left(of whole: LogEntry.Body?) -> Int64? {
        guard !isTruncated, let whole, content != whole.content else { return nil }
        switch content {
        case .data(let data): return Int64(data.count)
        case .parameters(let fields): return Int64(FormText.body(fields, mediaType: mediaType)?.utf8.count ?? -1)
        case .file, .omitted: return nil
        }
    }
}

extension Redactor {
    /// Replaces the secrets in a body. If secrets cannot be found in its encoding, the body is converted first.
    ///
    /// - Parameter charset: the body's encoding; `nil` for UTF-8.
    func redact(
        decoding data: Data,
        _ charset: Charset?,
        _ mediaType: String?,
        at place: String,
        recordingTo audit: inout Audit
    ) -> RedactedBody {
        guard let charset, !Self.canRead(charset: charset.label), !Self.isBinary(contentType: mediaType ?? "") else {
            return redact(body: data, contentType: mediaType, at: place, recordingTo: &audit)
        }
        let type = mediaType.flatMap { MediaType($0) }?.essence
        guard let text = charset.text(of: data),
            case .body(let shown) = redact(body: Data(text.utf8), contentType: type, at: place, recordingTo: &audit)
        else { return .omitted(.encoding) }
        if shown == Data(text.utf8) { return .body(data) }
        return charset.encoded(String(decoding: shown, as: UTF8.self)).map { .body($0) } ?? .omitted(.encoding)
    }
}
