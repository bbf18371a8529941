import BeagleNetHTTP

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LogEntry {
    /// Writes the entry in the format of HAR 1.2.
    ///
    /// Values that HAR has no place for are in one member, `_beagle`.
    package func write(to output: inout JSONOutput) {
        output.object { output in
            output.member("startedDateTime", Timestamp.text(of: started))
            output.milliseconds("time", timings.total)
            output.name("request")
            write(request, to: &output)
            output.name("response")
            write(response ?? .none, to: &output)
            writeCache(to: &output)
            output.name("timings")
            write(timings, to: &output)
            if let serverAddress { output.member("serverIPAddress", serverAddress) }
            if let connection { output.member("connection", connection) }
            if let error { output.member("_error", error) }
            if let resourceType, !unknownMembers.contains(where: { $0.place.isEmpty && $0.name == "_resourceType" }) {
                output.member("_resourceType", resourceType)
            }
            writeMessages(to: &output)
            writeBeagleMembers(to: &output)
            writeOthers(at: "", to: &output)
        }
    }

    /// Writes the recorded `cache` member unchanged, or as `_cache` if HAR 1.2 doesn't allow its value.
    private func writeCache(to output: inout JSONOutput) {
        let cache = unknownMembers.first(where: \.isCache)
        let isValid = cache.map { HARCheck.allows(cache: $0.json) } ?? false
        output.name("cache")
        output.raw((isValid ? cache?.json ?? "{}" : "{}").utf8)
        guard let cache, !isValid, !unknownMembers.contains(where: { $0.place.isEmpty && $0.name == "_cache" }) else {
            return
        }
        output.name("_cache")
        output.raw(cache.json.utf8)
    }

    private func writeOthers(at place: String, to output: inout JSONOutput) {
        for other in unknownMembers where other.place == place && !other.isCache {
            output.name(escaping: other.name)
            output.raw(other.json.utf8)
        }
    }

    /// The resource type by which browser tools sort entries.
    private var resourceType: String? {
        switch kind {
        case nil: nil
        case "component": "document"
        case "image": "image"
        default: "fetch"
        }
    }
}

extension LogEntry.UnknownMember {
    fileprivate var isCache: Bool { place.isEmpty && name == "cache" }
}

// MARK: - Messages

extension LogEntry {
    private func write(_ request: Request, to output: inout JSONOutput) {
        output.object { output in
            output.member("method", request.method)
            output.member("url", String(request.url.withoutFragment))
            output.member("httpVersion", ProtocolName.standard(request.httpVersion))
            output.cookies("cookies", LoggedCookie.sent(in: request.fields))
            output.fields("headers", request.fields)
            output.pairs("queryString", QueryItems.of(request.url))
            if let body = request.body { write(body, request.charset, to: &output) }
            output.member("headersSize", request.headBytes)
            output.member("bodySize", request.bodyBytes)
            writeOthers(at: "request", to: &output)
        }
    }

    /// Writes the body always with a text, because readers otherwise show the word "undefined".
    private func write(_ body: Body, _ charset: Charset?, to output: inout JSONOutput) {
        output.name("postData")
        output.object { output in
            output.member("mimeType", body.mediaType)
            switch body.content {
            case .data(let data): output.text(of: data, charset, encodingName: "_encoding")
            case .file(let path): output.member("_file", path)
            case .parameters(let parameters):
                output.parameters(parameters)
                output.member("text", FormText.body(parameters, mediaType: body.mediaType) ?? "")
            case .omitted: output.member("text", "")
            }
            writeOthers(at: "request.postData", to: &output)
        }
    }

    private func write(_ response: Response, to output: inout JSONOutput) {
        output.object { output in
            output.member("status", max(response.status, 0))
            output.member("statusText", response.statusText)
            output.member("httpVersion", ProtocolName.standard(response.httpVersion))
            output.cookies("cookies", LoggedCookie.set(in: response.fields))
            output.fields("headers", response.fields)
            output.name("content")
            writeContent(response, to: &output)
            output.member("redirectURL", response.redirectURL)
            output.member("headersSize", response.headBytes)
            output.member("bodySize", response.bodyBytes)
            writeOthers(at: "response", to: &output)
        }
    }

    private func writeContent(_ response: Response, to output: inout JSONOutput) {
        let body = response.body
        output.object { output in
            output.member("size", body.size)
            if body.size >= 0, response.bodyBytes > 0 { output.member("compression", body.size - response.bodyBytes) }
            output.member("mimeType", body.mediaType)
            switch body.content {
            case .data(let data): output.text(of: data, response.charset, encodingName: "encoding")
            case .file(let path): output.member("_file", path)
            case .parameters, .omitted: break
            }
            writeOthers(at: "response.content", to: &output)
        }
    }

    private func write(_ timings: Timings, to output: inout JSONOutput) {
        output.object { output in
            output.milliseconds("blocked", timings.blocked)
            output.milliseconds("dns", timings.dns)
            output.milliseconds("connect", timings.connect)
            output.milliseconds("ssl", timings.tls)
            // HAR requires these three.
            output.milliseconds("send", timings.send ?? .zero)
            output.milliseconds("wait", timings.wait ?? .zero)
            output.milliseconds("receive", timings.receive ?? .zero)
            writeOthers(at: "timings", to: &output)
        }
    }

    /// Writes the messages in Chrome's format: time in seconds since 1970, text unchanged, bytes as base64.
    private func writeMessages(to output: inout JSONOutput) {
        guard !messages.isEmpty else { return }
        output.name("_webSocketMessages")
        output.array { output in
            for message in messages { message.write(to: &output) }
        }
    }
}

extension LogEntry.Message {
    package func write(to output: inout JSONOutput) {
        output.object { output in
            output.member("type", direction.rawValue)
            output.name("time")
            output.raw("\(time.timeIntervalSince1970.isFinite ? time.timeIntervalSince1970 : 0)".utf8)
            output.member("opcode", opcode)
            let text = opcode == 2 ? nil : String(validating: data, as: UTF8.self)
            output.member("data", text ?? data.base64EncodedString())
        }
    }
}

// MARK: - Members of our own

extension LogEntry {
    private func writeBeagleMembers(to output: inout JSONOutput) {
        output.name("_beagle")
        output.object { output in
            output.member("v", 1)
            if !id.isEmpty { output.member("id", id) }
            if let kind { output.member("kind", kind) }
            if let operationName { output.member("operationName", operationName) }
            if attempt != 1 { output.member("attempt", attempt) }
            if redirects != 0 { output.member("redirects", redirects) }
            if let parent { output.member("parent", parent) }
            if response == nil { output.member("noResponse", true) }
            if isFromStore { output.member("fromStore", true) }
            if let cacheStatus { output.member("cacheStatus", cacheStatus) }
            if isInterrupted { output.member("interrupted", true) }
            if !redactions.isEmpty { output.strings("redactions", redactions) }
            if let body = request.body {
                writeBeagleMembers(body, "requestOmitted", "requestTruncated", to: &output)
                output.member("requestSize", body.size)
            }
            if let response { writeBeagleMembers(response, to: &output) }
            writeOthers(at: "_beagle", to: &output)
        }
    }

    private func writeBeagleMembers(
        _ body: Body,
        _ omitted: StaticString,
        _ truncated: StaticString,
        to output: inout JSONOutput
    ) {
        if case .omitted(let reason) = body.content { output.member(omitted, reason) }
        if body.isTruncated { output.member(truncated, true) }
    }

    private func writeBeagleMembers(_ response: Response, to output: inout JSONOutput) {
        writeBeagleMembers(response.body, "responseOmitted", "responseTruncated", to: &output)
        if !response.trailers.isEmpty { output.fields("trailers", response.trailers) }
        guard !response.interim.isEmpty else { return }
        output.name("interim")
        output.array { output in
            for head in response.interim {
                output.object { output in
                    output.member("status", head.status)
                    output.fields("headers", head.fields)
                }
            }
        }
    }
}

extension LogEntry.Response {
    /// A placeholder for a missing response.
    fileprivate static let none = LogEntry.Response(status: 0, headBytes: -1, bodyBytes: -1)
}

// MARK: - Values

extension JSONOutput {
    /// Writes a duration in milliseconds, with microsecond precision; -1 for `nil`, as HAR specifies.
    fileprivate mutating func milliseconds(_ name: StaticString, _ duration: Duration?) {
        self.name(name)
        guard let duration else { return integer(-1) }
        let (seconds, attoseconds) = duration.components
        let micros = seconds * 1_000_000 + (attoseconds + 500_000_000_000) / 1_000_000_000_000
        if micros.isMultiple(of: 1000) { return decimal(micros / 1000) }
        decimal(micros, places: 3)
    }

    fileprivate mutating func fields(_ name: StaticString, _ fields: [LogEntry.Field]) {
        self.name(name)
        array { output in
            for field in fields { output.pair(field.name, field.value) }
        }
    }

    fileprivate mutating func pairs(_ name: StaticString, _ pairs: [(name: String, value: String)]) {
        self.name(name)
        array { output in
            for pair in pairs { output.pair(pair.name, pair.value) }
        }
    }

    private mutating func pair(_ name: String, _ value: String) {
        object { output in
            output.member("name", name)
            output.member("value", value)
        }
    }

    mutating func strings(_ name: StaticString, _ strings: [String]) {
        self.name(name)
        array { output in
            for string in strings { output.string(string) }
        }
    }

    fileprivate mutating func cookies(_ name: StaticString, _ cookies: [LoggedCookie]) {
        self.name(name)
        array { output in
            for cookie in cookies { cookie.write(to: &output) }
        }
    }

    fileprivate mutating func parameters(_ parameters: [LogEntry.Parameter]) {
        name("params")
        array { output in
            for parameter in parameters {
                output.object { output in
                    output.member("name", parameter.name)
                    if let value = parameter.value { output.member("value", value) }
                    if let fileName = parameter.fileName { output.member("fileName", fileName) }
                    if let contentType = parameter.contentType { output.member("contentType", contentType) }
                }
            }
        }
    }

    /// Writes bytes as text if they are valid in their encoding. Otherwise writes base64, and states that in the member
    /// `encodingName`.
    ///
    /// - Parameter charset: the encoding; `nil` for UTF-8. Text is written only if it converts back to the same bytes.
    mutating func text(of data: Data, _ charset: Charset?, encodingName: StaticString) {
        name("text")
        if let charset {
            if let text = charset.text(of: data), charset.encoded(text) == data { return string(text) }
        } else if data.withUnsafeBytes({ string(validating: $0) }) {
            return
        }
        string(data.base64EncodedString())
        member(encodingName, "base64")
    }
}

/// The names of HTTP versions.
package enum ProtocolName {
    /// Returns the standard name for a spelling found in archives; returns an unknown text unchanged.
    package static func standard(_ text: String) -> String {
        // The most common spellings.
        if text == "HTTP/1.1" || text == "HTTP/2" { return text }
        let name = text.lowercased()
        switch name.hasPrefix("http/") ? name.dropFirst(5) : name[...] {
        case "1.0": return "HTTP/1.0"
        case "1.1": return "HTTP/1.1"
        case "2", "2.0", "h2", "h2c": return "HTTP/2"
        case "3", "3.0", "h3": return "HTTP/3"
        default: return text
        }
    }
}
