import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A reader that splits a body into parts for matching.
///
/// The format is selected by the media type. If the body isn't valid in this format or has no media type, it is JSON if
/// it looks like it, or else bytes.
struct BodyParts {
    private let subject: MatchSubject
    private let ignored: [JSONPath]
    private let ignoredNames: Set<String>
    private let body: LogEntry.Body?
    private let type: String
    private let essence: String

    init(of subject: MatchSubject, ignoring ignored: [JSONPath] = [], names: Set<String> = []) {
        self.subject = subject
        self.ignored = ignored
        ignoredNames = names
        body = subject.request.body
        let type = body?.mediaType ?? ""
        self.type = type.isEmpty ? subject.request.fields["content-type"] ?? "" : type
        essence = MediaType(self.type)?.essence ?? ""
    }

    func read(into parts: inout [RequestPart]) {
        guard let data = bytes(into: &parts) else { return }
        if subject.isOpaque { return append(data, into: &parts) }
        if essence == "application/x-www-form-urlencoded" { return readForm(data, into: &parts) }
        if essence.hasPrefix("multipart/"), readMultipart(data, into: &parts) { return }
        if let json = json(in: data) { return read(json.root, into: &parts) }
        append(data, into: &parts)
    }

    func readBytes(into parts: inout [RequestPart]) {
        if let data = bytes(into: &parts) { append(data, into: &parts) }
    }

    /// Returns the bytes if there are any. Otherwise adds a part for other information about the body.
    private func bytes(into parts: inout [RequestPart]) -> Data? {
        if let data = subject.data, body?.isTruncated != true { return data.isEmpty ? nil : data }
        switch body?.content {
        case nil: break
        case .parameters(let fields): read(fields, into: &parts)
        case .data, .file, .omitted: parts.append(RequestPart(.body, "", .any))
        }
        return nil
    }

    private func append(_ data: Data, into parts: inout [RequestPart]) {
        let isText = essence.hasPrefix("text/") && data.count <= 1 << 10 && !subject.isOpaque
        if isText, let text = String(validating: data, as: UTF8.self) {
            parts.append(RequestPart(.body, "", text))
        } else {
            parts.append(RequestPart(.body, "", Self.value(of: data)))
        }
    }

    private static func value(of data: Data) -> RequestPart.Value {
        let hash = KeyHash.of { $0.combine(data) }
        return .bytes(hash.high, hash.low, count: data.count)
    }
}

// MARK: - Forms

extension BodyParts {
    private func readForm(_ data: Data, into parts: inout [RequestPart]) {
        for item in QueryItems.items(Substring(String(decoding: data, as: UTF8.self)))
        where !ignoredNames.contains(item.name) {
            parts.append(RequestPart(.body, item.name, item.value))
        }
    }

    /// Adds the fields of a form without bytes.
    private func read(_ fields: [LogEntry.Parameter], into parts: inout [RequestPart]) {
        let shown = subject.redacted(fields)
        let isForm = FormText.body(shown, mediaType: type) != nil
        for field in isForm ? FormText.decoded(shown) : shown where !ignoredNames.contains(field.name) {
            parts.append(RequestPart(.body, field.name, field.value ?? Redactor.placeholder))
        }
    }

    /// Adds the parts of a multipart form.
    ///
    /// - Returns: false if the body is not a valid multipart form.
    private func readMultipart(_ data: Data, into parts: inout [RequestPart]) -> Bool {
        var found: [RequestPart] = []
        do throws(NetworkError) {
            var reader = try MultipartReader(contentType: type)
            reader.feed(data)
            var (head, content) = (HTTPFields(), Data())
            while let element = try reader.next() {
                switch element {
                case .head(let fields): (head, content) = (fields, Data())
                case .body(let bytes): content += bytes
                case .end: add(head, content, to: &found)
                }
            }
            try reader.finish()
        } catch {
            return false
        }
        parts += found
        return true
    }

    /// Adds a field of a multipart form. The name of an uploaded file is also a part.
    private func add(_ head: HTTPFields, _ content: Data, to parts: inout [RequestPart]) {
        // The slash makes `form-data; name="a"` parsable as a media type.
        let disposition = MediaType("form/" + (head[.contentDisposition] ?? ""))?.parameters ?? [:]
        let name = disposition["name"] ?? ""
        guard !ignoredNames.contains(name) else { return }
        if let fileName = disposition["filename"] {
            parts.append(RequestPart(.body, "\(name) file name", fileName))
        } else if let text = String(validating: content, as: UTF8.self) {
            return parts.append(RequestPart(.body, name, text))
        }
        parts.append(RequestPart(.body, name, Self.value(of: content)))
    }
}

// MARK: - JSON

extension BodyParts {
    private func json(in data: Data) -> ParsedJSON? {
        let isJSON = essence.hasSuffix("/json") || essence.hasSuffix("+json")
        let first = data.first { !$0.isJSONSpace }
        let looksLikeJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        // Invalid JSON is treated as bytes, so the error isn't needed.
        return isJSON || looksLikeJSON ? try? ParsedJSON(data) : nil
    }

    private func read(_ node: JSONNode, at path: String = "$", into parts: inout [RequestPart]) {
        read(node, at: path, PathPosition(ignored), into: &parts)
    }

    /// Adds the parts of a JSON value. The depth is limited by the JSON parser.
    private func read(_ node: JSONNode, at path: String, _ position: PathPosition, into parts: inout [RequestPart]) {
        guard ignored.isEmpty || position.first(in: ignored.indices) == nil else { return }
        var isEmpty = true
        switch node.kind {
        case .object:
            for (name, value) in node.members {
                isEmpty = false
                read(value, at: path + Self.step(to: name), position.member(name), into: &parts)
            }
            if isEmpty { parts.append(RequestPart(.body, path, "{}")) }
        case .array:
            for (index, element) in node.elements.enumerated() {
                isEmpty = false
                read(element, at: "\(path)[\(index)]", position.element(index), into: &parts)
            }
            if isEmpty { parts.append(RequestPart(.body, path, "[]")) }
        default: parts.append(RequestPart(.body, path, Self.value(of: node)))
        }
    }

    /// Returns the path component for a member of an object.
    private static func step(to name: String) -> String {
        let isPlain = !name.isEmpty && name.utf8.allSatisfy { GraphQLText.isWord($0) || $0 == UInt8(ascii: "-") }
        if isPlain { return ".\(name)" }
        var quoted: [UInt8] = []
        JSONText.append(name, to: &quoted)
        return "[\(String(decoding: quoted, as: UTF8.self))]"
    }

    /// Returns a scalar in a normalized notation.
    private static func value(of node: JSONNode) -> RequestPart.Value {
        if let text = node.string { return text.isRedacted ? .any : .text("\"\(text)\"") }
        guard let written = node.numberText else { return .text(String(decoding: node.raw, as: UTF8.self)) }
        if let whole = node.integer { return .text("\(whole)") }
        // With more digits, different numbers could become the same `Double`.
        let isExact = written.utf8.count { (0x30...0x39).contains($0) } <= 15
        return .text(isExact ? node.number.map { "\($0)" } ?? written : written)
    }
}

// MARK: - GraphQL

extension BodyParts {
    func readGraphQL(into parts: inout [RequestPart]) {
        if subject.isOpaque { return readBytes(into: &parts) }
        if essence == "application/graphql", let data = subject.data {
            let document = GraphQLText.plain(String(decoding: data, as: UTF8.self))
            return parts.append(RequestPart(.body, "document", document))
        }
        guard let root = subject.data.flatMap(json)?.root, root.kind == .object, let document = root["query"]?.string
        else { return read(into: &parts) }
        parts.append(RequestPart(.body, "document", GraphQLText.plain(document)))
        if let name = root["operationName"]?.string { parts.append(RequestPart(.body, "operationName", name)) }
        if let variables = root["variables"], !variables.isNull { read(variables, at: "$.variables", into: &parts) }
    }
}

/// A namespace for normalizing GraphQL documents. Source:
/// https://spec.graphql.org/October2021/#sec-Language.Source-Text.Ignored-Tokens
enum GraphQLText {
    /// Returns the document without ignored tokens. Only words that would otherwise run together are separated by a
    /// space.
    static func plain(_ document: String) -> String {
        var plain: [UInt8] = []
        var rest = Array(document.utf8)[...]
        var isApart = false
        while let byte = rest.first {
            if isIgnored(byte) {
                isApart = true
                rest = rest.dropFirst()
            } else if byte == UInt8(ascii: "#") {
                isApart = true
                rest = rest.drop { $0 != 0x0A && $0 != 0x0D }
            } else {
                let token = token(at: rest)
                // A space is needed only between two words.
                if isApart, let last = plain.last, isWord(last), token.first.map(isWord) == true {
                    plain.append(UInt8(ascii: " "))
                }
                plain += token
                rest = rest.dropFirst(token.count)
                isApart = false
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// Returns a whole string literal, or else a single byte.
    static func token(at rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let quote = UInt8(ascii: "\"")
        guard rest.first == quote else { return rest.prefix(1) }
        let isBlock = rest.starts(with: [quote, quote, quote])
        let width = isBlock ? 3 : 1
        var end = rest.startIndex + width
        while end < rest.endIndex {
            if rest[end] == UInt8(ascii: "\\") {
                let isBlockQuote = rest[(end + 1)...].starts(with: [quote, quote, quote])
                end += isBlock ? (isBlockQuote ? 4 : 1) : 2
            } else if rest[end...].starts(with: repeatElement(quote, count: width)) {
                return rest[..<(end + width)]
            } else {
                end += 1
            }
        }
        return rest
    }

    /// Returns whether a byte is white space, a line end, a comma, or part of a byte order mark.
    static func isIgnored(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), 0xEF, 0xBB, 0xBF].contains(byte)
    }

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
