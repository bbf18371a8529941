import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LogEntry {
    /// Reads an entry of an archive or a log.
    ///
    /// Missing members and members of a wrong type get their most likely value.
    ///
    /// - Parameter warn: receives deviations from HAR 1.2: the path in the entry, and the reason.
    package init(_ node: JSONNode, warn: (_ path: String, _ reason: String) -> Void = { _, _ in }) {
        self = withoutActuallyEscaping(warn) { EntryReader(warn: $0).entry(node) }
    }
}

/// A reader for the JSON objects of an entry.
private struct EntryReader {
    let warn: (_ path: String, _ reason: String) -> Void

    func entry(_ node: JSONNode) -> LogEntry {
        let own = node["_beagle"]
        var entry = LogEntry(
            id: own?["id"]?.string ?? node["_id"]?.string ?? "",
            started: date(node["startedDateTime"], "startedDateTime"),
            request: request(node["request"], own),
            response: response(node["response"], to: node["request"]?["method"]?.string ?? "GET", own),
            timings: timings(node),
            error: node["_error"]?.string ?? node["response"]?["_error"]?.string
                ?? node["response"]?["_failureText"]?.string
        )
        entry.serverAddress = node["serverIPAddress"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        entry.connection = node["connection"].flatMap { $0.string ?? $0.numberText }
        entry.messages = messages(node["_webSocketMessages"])
        if let own { readBeagleMembers(own, into: &entry) }
        entry.unknownMembers = unknownMembers(node)
        return entry
    }

    private func readBeagleMembers(_ own: JSONNode, into entry: inout LogEntry) {
        entry.kind = own["kind"]?.string
        entry.operationName = own["operationName"]?.string
        entry.attempt = int(own["attempt"]) ?? 1
        entry.redirects = int(own["redirects"]) ?? 0
        entry.parent = own["parent"]?.string
        entry.isFromStore = own["fromStore"]?.bool ?? false
        entry.cacheStatus = own["cacheStatus"]?.string
        entry.isInterrupted = own["interrupted"]?.bool ?? false
        entry.redactions = own["redactions"]?.elements.compactMap(\.string) ?? []
    }

    private func request(_ node: JSONNode?, _ own: JSONNode?) -> LogEntry.Request {
        guard let node, node.kind == .object else {
            warn("request", "is missing")
            return LogEntry.Request(method: "GET", url: "")
        }
        if node["method"]?.string == nil { warn("request.method", "is missing or not a string") }
        if node["url"]?.string == nil { warn("request.url", "is missing or not a string") }
        var fields = fields(node["headers"], "request.headers")
        // Some tools list cookies without the field that carried them.
        let cookies = LoggedCookie.list(node["cookies"])
        if fields["Cookie"] == nil, !cookies.isEmpty {
            fields.append(LogEntry.Field("Cookie", cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")))
        }
        return LogEntry.Request(
            method: node["method"]?.string ?? "GET",
            url: url(node),
            httpVersion: text(node["httpVersion"]) ?? "",
            fields: fields,
            body: requestBody(node, fields, own),
            headBytes: node["headersSize"]?.integer ?? -1,
            bodyBytes: node["bodySize"]?.integer ?? -1
        )
    }

    /// Returns the URL. Adds the query items if the URL has no query, because some tools list them only separately.
    private func url(_ node: JSONNode) -> String {
        let url = node["url"]?.string ?? ""
        let items = node["queryString"]?.elements.compactMap { item in
            item["name"]?.string.map { FormText.pair($0, text(item["value"])) }
        }
        let page = url.withoutFragment
        guard let items, !items.isEmpty, !page.utf8.contains(UInt8(ascii: "?")) else { return url }
        return "\(page)?\(items.joined(separator: "&"))\(Substring(url.utf8.dropFirst(page.utf8.count)))"
    }

    private func requestBody(_ request: JSONNode, _ fields: [LogEntry.Field], _ own: JSONNode?) -> LogEntry.Body? {
        let method = request["method"]?.string ?? "GET"
        let info = ArchivedBodyInfo(ofRequest: method, fields, bodySize: request["bodySize"]?.integer ?? -1)
        guard let node = request["postData"], node.kind == .object else {
            return own == nil ? info.missing(fields["Content-Type"]) : nil
        }
        let encoding = node["_encoding"] ?? node["encoding"]
        let mediaType = node["mimeType"]?.string ?? ""
        let charset = Charset(fields, mediaType: mediaType)
        var content = content(node, encoding: encoding?.string, "request.postData") { text in
            own == nil ? info.text(text, charset, mediaType).content : .data(charset.bytes(of: text))
        }
        let parameters = node["params"].map(parameters) ?? []
        let hasText = content != nil && content != .data(Data())
        if !hasText, !parameters.isEmpty { content = .parameters(parameters) }
        if let reason = own?["requestOmitted"]?.string { content = .omitted(reason) }
        var body = LogEntry.Body(
            content ?? .data(Data()),
            mediaType: mediaType,
            size: own?["requestSize"]?.integer,
            isTruncated: own?["requestTruncated"]?.bool ?? false
        )
        if own == nil { info.complete(&body, comment: node["comment"]?.string, fields) }
        return body
    }

    private func response(_ node: JSONNode?, to method: String, _ own: JSONNode?) -> LogEntry.Response? {
        guard let node, node.kind == .object, own?["noResponse"]?.bool != true else { return nil }
        let status = int(node["status"]) ?? node["status"]?.string.flatMap { Int($0) } ?? 0
        let contentNode = node["content"]
        let fields = fields(node["headers"], "response.headers").filter { field in
            !Self.addedFields.contains(field.name.lowercased())
        }
        let size = contentNode?["size"]?.integer
        let received = node["bodySize"]?.integer ?? -1
        let info = ArchivedBodyInfo(ofResponse: status, to: method, fields, size: size ?? -1, received: received)
        let mediaType = contentNode?["mimeType"]?.string ?? ""
        let charset = Charset(fields, mediaType: mediaType)
        let kept = contentNode.flatMap {
            content($0, encoding: $0["encoding"]?.string, "response.content") { text in
                own == nil ? info.text(text, charset, mediaType).content : .data(charset.bytes(of: text))
            }
        }
        var body = LogEntry.Body(
            kept ?? .omitted("unknown"),
            mediaType: mediaType,
            size: size,
            isTruncated: own?["responseTruncated"]?.bool ?? false
        )
        if let reason = own?["responseOmitted"]?.string { body.content = .omitted(reason) }
        if own == nil { info.complete(&body, comment: contentNode?["comment"]?.string, fields) }
        var response = LogEntry.Response(
            status: status,
            statusText: node["statusText"]?.string ?? "",
            httpVersion: text(node["httpVersion"]) ?? "",
            fields: fields,
            body: body,
            redirectURL: node["redirectURL"]?.string ?? "",
            headBytes: node["headersSize"]?.integer ?? -1,
            bodyBytes: node["bodySize"]?.integer ?? -1
        )
        if response.fields["Set-Cookie"] == nil {
            response.fields += LoggedCookie.list(node["cookies"]).map { LogEntry.Field("Set-Cookie", $0.text) }
        }
        response.trailers = own?["trailers"].map { self.fields($0, "_beagle.trailers") } ?? []
        response.interim =
            own?["interim"]?.elements.map { head in
                let fields = self.fields(head["headers"], "_beagle.interim")
                return LogEntry.Head(status: int(head["status"]) ?? 0, fields: fields)
            } ?? []
        return response
    }

    /// Returns a body's bytes or the file that its object names; `nil` if it has neither.
    ///
    /// - Parameter contentOfText: finds the bytes that a text stands for.
    private func content(
        _ node: JSONNode,
        encoding: String?,
        _ place: String,
        text contentOfText: (String) -> LogEntry.Body.Content
    ) -> LogEntry.Body.Content? {
        if let file = node["_file"]?.string { return .file(file) }
        guard let text = node["text"]?.string else { return nil }
        guard encoding?.lowercased() == "base64" else { return contentOfText(text) }
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            warn("\(place).text", "is not base64, although its encoding says so")
            return .omitted("not base64")
        }
        return .data(data)
    }

    private func parameters(_ node: JSONNode) -> [LogEntry.Parameter] {
        node.elements.map { item in
            LogEntry.Parameter(
                name: item["name"]?.string ?? "",
                value: text(item["value"]),
                fileName: item["fileName"]?.string,
                contentType: item["contentType"]?.string
            )
        }
    }

    /// Fields that a recorder adds to those of the server: Firefox's, and those of OkHttp on Android.
    private static let addedFields: Set = [
        "x-firefox-spdy", "x-firefox-http3", "okhttp-sent-millis", "okhttp-received-millis", "okhttp-selected-protocol",
        "okhttp-response-source", "x-android-sent-millis", "x-android-received-millis", "x-android-selected-protocol",
        "x-android-response-source",
    ]

    private func fields(_ node: JSONNode?, _ place: String) -> [LogEntry.Field] {
        guard let node, node.kind == .array || node.kind == .object else {
            warn(place, "is missing or not an array")
            return []
        }
        let named = node.members.map { ($0.name, text($0.value)) }
        let listed = node.elements.compactMap { item -> (String, String?)? in
            // Some tools write pairs instead of objects.
            let pair = item.elements.map { text($0) }
            guard let name = item["name"]?.string ?? pair.first ?? nil else {
                warn(place, "has an item without a name")
                return nil
            }
            return (name, text(item["value"]) ?? pair.dropFirst().first ?? nil)
        }
        // HTTP/2 pseudo-header fields such as `:path` are recorded elsewhere.
        return (named + listed).filter { !$0.0.hasPrefix(":") }.flatMap { name, value in
            // Some tools join repeated fields with line feeds.
            (value ?? "").split(omittingEmptySubsequences: false, whereSeparator: \.isLineEnd)
                .map { LogEntry.Field(name, String($0)) }
        }
    }

    private func timings(_ entry: JSONNode) -> LogEntry.Timings {
        func duration(_ node: JSONNode?) -> Duration? {
            guard let number = node?.number, number >= 0, number < 1e12 else { return nil }
            return .milliseconds(number)
        }
        let node = entry["timings"]
        var timings = LogEntry.Timings(
            blocked: duration(node?["blocked"]),
            dns: duration(node?["dns"]),
            connect: duration(node?["connect"]),
            tls: duration(node?["ssl"]),
            send: duration(node?["send"]),
            wait: duration(node?["wait"]),
            receive: duration(node?["receive"])
        )
        // Some tools state only the total time; most of it is spent waiting.
        if timings == LogEntry.Timings() { timings.wait = duration(entry["time"]) }
        return timings
    }

    private func messages(_ node: JSONNode?) -> [LogEntry.Message] {
        guard let node else { return [] }
        return node.elements.map { LogEntry.Message($0) }
    }

    private func date(_ node: JSONNode?, _ place: String) -> Date {
        if let date = node?.string.flatMap(Timestamp.date) { return date }
        // Milliseconds since 1970, as in JavaScript.
        if let number = node?.number, number > 0, number < 1e14 { return Date(timeIntervalSince1970: number / 1000) }
        warn(place, "is missing or not a date")
        return Date(timeIntervalSince1970: 0)
    }

    /// Returns a string value, or the text of a number.
    private func text(_ node: JSONNode?) -> String? { node.flatMap { $0.string ?? $0.numberText } }

    private func int(_ node: JSONNode?) -> Int? { node?.integer.flatMap { Int(exactly: $0) } }
}

extension LogEntry.Message {
    /// Reads a message in the format of `write(to:)`.
    package init(_ node: JSONNode) {
        let opcode = node["opcode"]?.integer.flatMap { Int(exactly: $0) } ?? 1
        let text = node["data"]?.string ?? ""
        let bytes = opcode == 2 ? Data(base64Encoded: text) : nil
        // Playwright writes milliseconds, all other tools seconds.
        let time = node["time"]?.number.flatMap { abs($0) < 1e14 ? $0 : nil } ?? 0
        self.init(
            node["type"]?.string == "send" ? .send : .receive,
            at: Date(timeIntervalSince1970: time > 1e11 ? time / 1000 : time),
            opcode: opcode,
            bytes ?? Data(text.utf8)
        )
    }
}

// MARK: - Unknown members

extension EntryReader {
    private static let known: [String: Set<String>] = [
        "": [
            "startedDateTime", "time", "request", "response", "timings", "serverIPAddress", "connection",
            "_error", "_webSocketMessages", "_beagle",
        ],
        "request": [
            "method", "url", "httpVersion", "cookies", "headers", "queryString", "postData", "headersSize", "bodySize",
        ],
        "request.postData": ["mimeType", "text", "params", "_encoding", "encoding", "_file"],
        "response": [
            "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
            "bodySize",
        ],
        "response.content": ["size", "compression", "mimeType", "text", "encoding", "_file"],
        "timings": ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"],
        "_beagle": [
            "v", "id", "kind", "operationName", "attempt", "redirects", "parent", "noResponse", "fromStore",
            "cacheStatus",
            "interrupted", "redactions", "requestOmitted", "requestTruncated", "requestSize", "responseOmitted",
            "responseTruncated", "trailers", "interim",
        ],
    ]

    private func unknownMembers(_ entry: JSONNode) -> [LogEntry.UnknownMember] {
        let (request, response) = (entry["request"], entry["response"])
        let objects: [(String, JSONNode?)] = [
            ("", entry), ("request", request), ("request.postData", request?["postData"]), ("response", response),
            ("response.content", response?["content"]), ("timings", entry["timings"]), ("_beagle", entry["_beagle"]),
        ]
        // In our own entries, `_resourceType` is derived from the kind.
        let hasKind = entry["_beagle"]?["kind"]?.string != nil
        return objects.flatMap { place, node -> [LogEntry.UnknownMember] in
            guard let node, var known = Self.known[place] else { return [] }
            if place.isEmpty, hasKind { known.insert("_resourceType") }
            let unknown = node.members.filter { name, value in
                !known.contains(name) && (name != "cache" || !value.isEmptyObject)
            }
            return unknown.map { name, value in
                let json = String(decoding: value.raw, as: UTF8.self)
                // A `_cache` member that isn't valid as `cache` was renamed when the entry was written.
                let isCache = place.isEmpty && name == "_cache" && node["cache"]?.isEmptyObject == true
                let name = isCache && !HARCheck.allows(cache: json) ? "cache" : name
                return LogEntry.UnknownMember(place: place, name: name, json: json)
            }
        }
    }
}

extension JSONNode {
    /// Whether the object has no members. `cache` is usually empty.
    fileprivate var isEmptyObject: Bool { kind == .object && members.first { _ in true } == nil }
}

extension String {
    /// The text of a URL without its fragment, which is never sent.
    var withoutFragment: Substring { Substring(utf8.prefix { $0 != UInt8(ascii: "#") }) }
}

extension Character {
    fileprivate var isLineEnd: Bool { self == "\n" || self == "\r" || self == "\r\n" }
}
