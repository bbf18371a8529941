import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The data for the script of an `Recording.HTMLReport`, as JSON that can be embedded in a page.
struct HTMLReportData {
    /// The maximum size of a shown text, in bytes.
    private static let textLimit = 64 << 10
    /// The maximum size of a shown image, in bytes.
    private static let imageLimit = 192 << 10
    /// The maximum size of a shown field value, in bytes.
    private static let valueLimit = 2 << 10

    private let title: String
    private let recording: Recording
    private let entries: [Recording.NumberedEntry]
    private let redactor: Redactor?
    /// The names and values of fields, stored once, because most are repeated in each message.
    private var strings: [String: Int] = [:]
    private var stringList: [String] = []

    /// Creates the data for a report.
    ///
    /// - Parameter redactor: the redactor for bodies in files; entries are already redacted.
    init(title: String, recording: Recording, entries: [Recording.NumberedEntry], redactor: Redactor?) {
        self.title = title
        self.recording = recording
        self.entries = entries
        self.redactor = redactor
    }

    /// Returns the data as JSON.
    ///
    /// - Parameter budget: the maximum size in bytes, as far as truncating bodies achieves it.
    mutating func json(within budget: Int) -> Data {
        let start = entries.map(\.entry.started).min() ?? Date(timeIntervalSince1970: 0)
        let heads = entries.map { head($0, since: start) }
        let strings = stringList.reduce(0) { $0 + $1.utf8.count + 8 }
        let left = budget - heads.reduce(strings) { $0 + $1.count + 64 }
        let bodies = bodies(within: max(left, 0))

        var output = JSONOutput(capacity: budget - max(left, 0))
        output.object { output in
            output.member("title", title)
            output.member("start", Timestamp.text(of: start))
            output.name("warnings")
            output.array { output in
                for warning in recording.warnings.prefix(100) { output.string("\(warning)") }
            }
            output.name("strings")
            output.array { output in
                for string in stringList { output.string(string) }
            }
            output.name("entries")
            output.array { output in
                for (head, bodies) in zip(heads, bodies) {
                    // The bodies are members of the same object.
                    output.raw(head.dropLast() + bodies)
                }
            }
        }
        return Self.escaped(output.bytes)
    }

    /// Returns JSON that cannot end the script element or begin another one (HTML, 4.12.1.3).
    private static func escaped(_ json: [UInt8]) -> Data {
        var data = Data(capacity: json.count + json.count / 50)
        for part in json.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false) {
            if part.startIndex > 0 { data.append(contentsOf: #"\u003c"#.utf8) }
            data.append(contentsOf: part)
        }
        return data
    }

    private mutating func index(of text: String) -> Int {
        if let index = strings[text] { return index }
        let index = stringList.count
        strings[text] = index
        stringList.append(text)
        return index
    }
}

// MARK: - Heads

extension HTMLReportData {
    private mutating func head(_ item: Recording.NumberedEntry, since start: Date) -> [UInt8] {
        let entry = item.entry
        let (sent, received) = (fields(entry.request.fields), fields(entry.response?.fields ?? []))
        let trailers = fields(entry.response?.trailers ?? [])
        var output = JSONOutput()
        output.object { output in
            output.member("n", item.number)
            output.milliseconds("at", Duration.seconds(entry.started.timeIntervalSince(start)))
            output.member("method", entry.request.method)
            output.member("url", entry.request.url)
            output.name("phases")
            output.array { output in
                for phase in entry.timings.phases { output.milliseconds(phase.duration) }
            }
            output.name("sent")
            output.integers(sent)
            output.optional("version", entry.response?.httpVersion ?? entry.request.httpVersion)
            output.optional("kind", entry.kind)
            output.optional("operation", entry.operationName)
            output.optional("error", entry.isInterrupted ? "interrupted" : entry.error)
            output.optional("address", entry.serverAddress)
            output.optional("connection", entry.connection)
            output.optional("id", entry.id)
            output.optional("parent", entry.parent)
            if entry.failed { output.member("failed", true) }
            if entry.attempt > 1 { output.member("attempt", entry.attempt) }
            if entry.isFromStore { output.member("stored", true) }
            if !entry.redactions.isEmpty {
                output.name("redactions")
                output.strings(entry.redactions)
            }
            if let response = entry.response {
                output.member("status", response.status)
                output.optional("words", response.statusText)
                output.optional("location", response.redirectURL)
                output.optional("type", response.body.mediaType)
                if response.body.size >= 0 { output.member("size", response.body.size) }
                output.name("received")
                output.integers(received)
                if !trailers.isEmpty {
                    output.name("trailers")
                    output.integers(trailers)
                }
            }
        }
        return output.bytes
    }

    /// Returns the indices of names and values, alternating.
    private mutating func fields(_ fields: [LogEntry.Field]) -> [Int] {
        var places: [Int] = []
        for field in fields {
            var value = field.value
            if value.utf8.count > Self.valueLimit {
                value =
                    String(decoding: value.utf8.prefix(Self.valueLimit), as: UTF8.self)
                    + "… (\(counted(value.utf8.count, "byte")))"
            }
            places += [index(of: field.name), index(of: value)]
        }
        return places
    }
}

// MARK: - Bodies

extension HTMLReportData {
    /// A body, or the messages of an entry as text, with the size that it needs in the page.
    private struct Item {
        let entry: Int
        let name: String
        let body: LogEntry.Body
        var wanted = 0
    }

    /// Returns the members with bodies, including the brace that ends the entry. The longest bodies are truncated to
    /// fit the budget.
    private func bodies(within budget: Int) -> [[UInt8]] {
        var items = entries.indices.flatMap(items)
        for index in items.indices { items[index].wanted = wanted(items[index].body) }
        items.sort { ($0.wanted, $0.entry) < ($1.wanted, $1.entry) }
        var (left, texts) = (budget, entries.map { _ in [UInt8]() })
        for (index, item) in items.enumerated() {
            let text = json(item.body, within: min(left / (items.count - index), Self.imageLimit / 3 * 4 + 100))
            left = max(left - text.count, 0)
            texts[item.entry] += ",\"\(item.name)\":".utf8 + text
        }
        return texts.map { $0 + "}".utf8 }
    }

    private func items(of index: Int) -> [Item] {
        let entry = entries[index].entry
        var items: [Item] = []
        if let body = entry.request.body { items.append(Item(entry: index, name: "sentBody", body: body)) }
        if let body = entry.response?.body, body.content != .data(Data()) {
            items.append(Item(entry: index, name: "body", body: body))
        }
        if !entry.messages.isEmpty {
            let body = LogEntry.Body(.data(Data(entry.messageLines.utf8)), mediaType: "text/plain")
            items.append(Item(entry: index, name: "messages", body: body))
        }
        return items
    }

    private func wanted(_ body: LogEntry.Body) -> Int {
        let limit = body.isImage ? Self.imageLimit * 4 / 3 : Self.textLimit
        let size = max(body.size, 0) < Int64(limit) ? Int(max(body.size, 0)) : limit
        return size * (body.isImage ? 4 : 5) / (body.isImage ? 3 : 4)
    }

    /// Returns the shown part of a body: `text`, possibly truncated; `image` as base64; or the reason why it is not
    /// shown.
    private func json(_ body: LogEntry.Body, within limit: Int) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            output.optional("type", body.mediaType)
            if body.size >= 0 { output.member("size", body.size) }
            if body.isTruncated { output.member("truncated", true) }
            let data: Data
            do throws(NetworkError) {
                data = try recording.data(of: body, redactedBy: redactor)
            } catch {
                return output.member("hidden", error.message)
            }
            if body.isImage {
                let isShown = data.count <= Self.imageLimit && data.count / 3 * 4 + 200 < limit && !body.isTruncated
                guard isShown else { return output.member("hidden", "image too large for this page") }
                return output.member("image", data.base64EncodedString())
            }
            guard let text = data.text(in: body.mediaType) else { return output.member("hidden", "not text") }
            output.text(text, within: min(limit, Self.textLimit))
        }
        return output.bytes
    }
}

extension LogEntry.Body {
    fileprivate var isImage: Bool {
        let type = MediaType(mediaType)?.essence ?? ""
        return type.hasPrefix("image/") && HTMLReportData.imageTypes.contains(String(type.dropFirst(6)))
    }
}

extension HTMLReportData {
    /// The image types that browsers show. An SVG in an image element doesn't run scripts.
    fileprivate static let imageTypes: Set<String> = [
        "png", "jpeg", "jpg", "gif", "webp", "avif", "svg+xml", "bmp", "x-icon",
    ]
}

extension LogEntry {
    /// The messages with direction, time and text, one per line.
    fileprivate var messageLines: String {
        messages.map { message in
            let arrow = message.direction == .send ? "→" : "←"
            let time = message.time.timeIntervalSince(started)
            let text = message.opcode == 2 ? nil : String(validating: message.data, as: UTF8.self)
            let seconds = (time * 1000).rounded() / 1000
            return "\(arrow) \(seconds) s  \(text ?? counted(message.data.count, "byte"))"
        }.joined(separator: "\n")
    }
}

extension Data {
    /// Decodes the bytes as text according to a media type; returns `nil` if they aren't text.
    package func text(in mediaType: String) -> String? {
        Charset(contentType: mediaType)?.text(of: self) ?? text
    }

    /// The bytes as UTF-8 text, without an incomplete character at the end; `nil` if they aren't text.
    package var text: String? {
        for cut in 0...Swift.min(3, count) {
            if let text = String(validating: dropLast(cut), as: UTF8.self) {
                return text.utf8.contains(0) ? nil : text
            }
        }
        return nil
    }
}

extension JSONOutput {
    /// Writes as much of a text as fits.
    fileprivate mutating func text(_ text: String, within limit: Int) {
        var (room, end) = (limit - 100, text.utf8.startIndex)
        for byte in text.utf8 {
            room -=
                byte == UInt8(ascii: "<") || byte < 0x20
                ? 6 : byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1
            guard room >= 0 else { break }
            end = text.utf8.index(after: end)
        }
        if end == text.utf8.endIndex { return member("text", text) }
        // The cut must be at a character boundary.
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        member("text", String(text[..<end]))
        member("cut", true)
    }

    fileprivate mutating func optional(_ name: StaticString, _ text: String?) {
        if let text, !text.isEmpty { member(name, text) }
    }

    fileprivate mutating func integers(_ numbers: [Int]) {
        array { output in
            for number in numbers { output.integer(number) }
        }
    }

    fileprivate mutating func strings(_ texts: [String]) {
        array { output in
            for text in texts { output.string(text) }
        }
    }

    /// Writes a duration with a precision of 0.01 milliseconds, which is less than a pixel.
    fileprivate mutating func milliseconds(_ name: StaticString, _ duration: Duration) {
        self.name(name)
        milliseconds(duration)
    }

    fileprivate mutating func milliseconds(_ duration: Duration?) {
        guard let duration else { return null() }
        let number = (duration.milliseconds * 100).rounded() / 100
        number == number.rounded() && abs(number) < 1e15 ? integer(Int64(number)) : raw("\(number)".utf8)
    }
}
