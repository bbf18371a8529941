public import BeagleNet
import BeagleNetHTTP

extension ComparisonRules {
    /// Compares two JSON texts.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if one of them is not valid JSON.
    public func differences(from before: Data, to after: Data) throws(NetworkError) -> Differences {
        JSONComparison.differences(try ParsedJSON(wrapping: before), try ParsedJSON(wrapping: after), self)
    }

    /// Compares a response with a recorded one: status, header fields and body.
    ///
    /// - Parameters:
    ///   - recorded: the recorded response.
    ///   - recording: the recording that contains the response and its body's file.
    ///   - answer: the received response.
    ///   - body: its body, decoded.
    public func differences(
        from recorded: LogEntry.Response,
        in recording: Recording,
        to answer: HTTPResponse,
        _ body: Data
    ) -> Differences {
        var found = Differences(limit: limit)
        if recorded.status != answer.status.code {
            let (before, after) = (String(recorded.status), String(answer.status.code))
            found.append(Difference(.changed, at: "status", before: before, after: after))
        }
        compare(recorded.fields, [LogEntry.Field](answer.headerFields), into: &found)
        do throws(NetworkError) {
            let before = recorded.isEmpty ? Data() : try recording.wholeBody(recorded.body)
            let type = answer.headerFields[single: .contentType] ?? ""
            compare(
                (before, recorded.mediaType, recorded.charset),
                (body, type, Charset(contentType: type)),
                into: &found
            )
        } catch {
            let note = "the body was not compared: \(error.message)"
            found.notes.append(note)
            if !recorded.isIntermediate { found.missingBody = note }
        }
        return found
    }
}

extension ParsedJSON {
    fileprivate convenience init(wrapping data: Data) throws(NetworkError) {
        do {
            try self.init(data)
        } catch {
            throw NetworkError(.decoding, during: .decode, error.description, underlying: error)
        }
    }
}

extension LogEntry.Response {
    /// The media type of the body, or else the value of `Content-Type`.
    var mediaType: String { body.mediaType.isEmpty ? fields["content-type"] ?? "" : body.mediaType }

    /// Whether there is no body, either by the status (RFC 9110, 6.4.1) or because its length is 0. Archives express
    /// this in several ways.
    fileprivate var isEmpty: Bool {
        guard case .omitted = body.content else { return false }
        return status == 204 || status == 304 || body.size == 0
    }

    /// Whether the body wasn't read because another response followed.
    fileprivate var isIntermediate: Bool {
        guard case .omitted(let reason) = body.content else { return false }
        return (300..<400).contains(status) || reason == "not read"
    }
}

// MARK: - Header fields

extension ComparisonRules {
    /// Compares header fields. Order and the case of names don't matter, but the number of equal values does.
    private func compare(_ before: [LogEntry.Field], _ after: [LogEntry.Field], into found: inout Differences) {
        let (mine, theirs) = (byName(before), byName(after))
        let ignored = Set(ignoredHeaders.map { $0.lowercased() })
        var names: Set<String> = []
        for name in (before + after).map({ $0.name.lowercased() }) where names.insert(name).inserted {
            // Names that begin with a colon are HTTP/2 pseudo-header fields.
            if !ignored.contains(name), !name.hasPrefix(":") {
                compareValues(mine[name] ?? [], theirs[name] ?? [], into: &found)
            }
        }
    }

    private func byName(_ fields: [LogEntry.Field]) -> [String: [LogEntry.Field]] {
        Dictionary(grouping: fields) { $0.name.lowercased() }
    }

    private func compareValues(_ before: [LogEntry.Field], _ after: [LogEntry.Field], into found: inout Differences) {
        var (mine, theirs) = (before, after)
        mine.removeValuesAlso(in: after)
        theirs.removeValuesAlso(in: before)
        // Sorted by value, so that cookies with secret values are matched by their names.
        mine.sort { $0.value < $1.value }
        theirs.sort { $0.value < $1.value }
        let shown = ReportFormatter(redactor: redactor)
        for index in 0..<max(mine.count, theirs.count) {
            let pair = (index < mine.count ? mine[index] : nil, index < theirs.count ? theirs[index] : nil)
            if let one = pair.0, let other = pair.1, Placeholder.matches(one.value, other.value) { continue }
            guard let name = (pair.0 ?? pair.1)?.name else { continue }
            found.append(
                Difference(
                    pair.0 == nil ? .added : pair.1 == nil ? .removed : .changed,
                    at: "headers.\(shown.text(name))",
                    before: pair.0.map { shown.value(of: $0) },
                    after: pair.1.map { shown.value(of: $0) }
                )
            )
        }
    }
}

extension [LogEntry.Field] {
    /// Removes values that the other list also has, each as often as it occurs there.
    fileprivate mutating func removeValuesAlso(in others: [LogEntry.Field]) {
        var counts = Dictionary(others.map { ($0.value, 1) }, uniquingKeysWith: +)
        removeAll { field in
            guard let count = counts[field.value], count > 0 else { return false }
            counts[field.value] = count - 1
            return true
        }
    }
}

// MARK: - Bodies

extension ComparisonRules {
    private typealias Body = (data: Data, type: String, charset: Charset?)

    private func compare(_ before: Body, _ after: Body, into found: inout Differences) {
        guard before.data != after.data else { return }
        let form = BodyForm(of: before.type)
        // Text is compared after decoding, regardless of its encoding.
        let isText = form != .bytes
        let recorded = isText ? before.data.utf8(from: before.charset) : before.data
        let received = isText ? after.data.utf8(from: after.charset) : after.data
        if isText, recorded == received { return }
        if form == .json || form == .unknown, let recorded = try? ParsedJSON(recorded) {
            return compare(recorded, received, into: &found)
        }
        if isText, let one = String(validating: recorded, as: UTF8.self),
            let other = String(validating: received, as: UTF8.self)
        {
            return compareLines(one, other, into: &found)
        }
        found.append(
            Difference(
                .changed,
                at: "body",
                before: summary(of: before.data, before.type),
                after: summary(of: after.data, after.type)
            )
        )
    }

    private func compare(_ recorded: ParsedJSON, _ received: Data, into found: inout Differences) {
        do throws(JSONFault) {
            JSONComparison.compare(recorded, try ParsedJSON(received), self, into: &found)
        } catch {
            let what = received.isEmpty ? "nothing" : error.description
            found.append(
                Difference(.type, at: "body", before: "JSON", after: ReportFormatter(redactor: redactor).text(what))
            )
        }
    }

    private func compareLines(_ before: String, _ after: String, into found: inout Differences) {
        guard !comparesTypesOnly else { return }
        let (mine, theirs) = (before.linesOfText, after.linesOfText)
        let alignment = Alignment(
            inOrder: mine.map { Array($0.utf8).hashValue },
            theirs.map { Array($0.utf8).hashValue }
        )
        let shown = ReportFormatter(redactor: redactor)
        for (index, partner) in alignment.partners.enumerated() {
            let line = String(mine[index])
            let other = partner.map { String(theirs[$0]) }
            if let other, Placeholder.matches(line, other) { continue }
            found.append(
                Difference(
                    other == nil ? .removed : .changed,
                    at: "body line \(index + 1)",
                    before: shown.text(line),
                    after: other.map { shown.text($0) }
                )
            )
        }
        for index in alignment.added {
            let line = shown.text(String(theirs[index]))
            found.append(Difference(.added, at: "body line \(index + 1)", after: line))
        }
    }

    /// Returns a summary such as `1234 bytes of image/png, SHA-256 2cf24dba5fb0…`.
    private func summary(of data: Data, _ type: String) -> String {
        let summary = redactor.summary(of: data, contentType: type)
        do throws(NetworkError) {
            return "\(summary), SHA-256 \(try SHA256Digest.hex(of: data))"
        } catch {
            return "\(summary), \(error.message)"
        }
    }
}

/// The format in which a body is compared, by its media type.
private enum BodyForm {
    case json, text, bytes, unknown

    init(of type: String) {
        guard let essence = MediaType(type)?.essence else {
            self = .unknown
            return
        }
        let isText =
            essence.hasPrefix("text/") || essence == "application/x-www-form-urlencoded"
            || ["xml", "javascript", "graphql", "yaml"].contains { essence.hasSuffix($0) }
        self =
            essence.hasSuffix("json")
            ? .json
            : essence.hasPrefix("image/") && essence != "image/svg+xml"
                ? .bytes
                : essence == "text/plain" ? .unknown : isText ? .text : .bytes
    }
}

extension String {
    fileprivate var linesOfText: [Substring] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }
}
