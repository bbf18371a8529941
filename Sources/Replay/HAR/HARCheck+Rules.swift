import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// MARK: - log

extension HARCheck {
    private static let creator: [Member] = [Member("name", .text), Member("version", .text)]

    func logMember(_ name: String, _ node: JSONNode) {
        switch name {
        case "version": version(node)
        case "creator", "browser": object("", node, Self.creator)
        case "pages":
            if node.kind != .array { report("", node, "should be an array") }
            elements("", node, page)
        case "comment": if node.kind != .string { report("", node, "should be a string") }
        case "entries": report("", node, "should be an array")
        default:
            if !name.isCustomMemberName {
                report("", node, "is not a member of HAR 1.2; names of custom members begin with an underscore", .hint)
            }
        }
    }

    private func version(_ node: JSONNode) {
        guard let text = node.string else { return report("", node, "should be a string") }
        // An empty version means 1.1. A newer minor version may only add members.
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard text.isEmpty || (numbers.count == 2 && numbers[0] == 1 && (numbers[1] ?? 0) >= 1) else {
            return report("", node, "is \(text), which is not a known version")
        }
        if text != "1.2" {
            report("", node, "is \(text.isEmpty ? "empty" : text), but the archive is checked as 1.2", .hint)
        }
    }

    private func page(_ path: String, _ node: JSONNode) {
        let members: [Member] = [
            Member("startedDateTime", .date), Member("id", .text), Member("title", .text),
            Member("pageTimings", .object),
        ]
        guard object(path, node, members), let timings = node["pageTimings"], timings.kind == .object else { return }
        let marks = ["onContentLoad", "onLoad"].map { Member($0, .number(orUnknown: true), isRequired: false) }
        object("\(path).pageTimings", timings, marks)
    }
}

// MARK: - Entries

extension HARCheck {
    private static let entry: [Member] = [
        Member("pageref", .text, isRequired: false), Member("startedDateTime", .date),
        Member("time", .number(orUnknown: false)), Member("request", .object), Member("response", .object),
        Member("cache", .object), Member("timings", .object), Member("serverIPAddress", .text, isRequired: false),
        Member("connection", .text, isRequired: false),
    ]

    /// Checks an entry.
    ///
    /// - Parameter last: the start time of the previous entry, as it is written.
    func entry(_ node: JSONNode, after last: inout String?) {
        guard object("", node, Self.entry) else { return }
        if let request = node["request"], request.kind == .object { self.request(request) }
        if let response = node["response"], response.kind == .object { self.response(response) }
        if let cache = node["cache"], cache.kind == .object { self.cache(cache) }
        if let timings = node["timings"], timings.kind == .object { self.timings(timings, node["time"]) }
        if let address = node["serverIPAddress"], let text = address.string,
            IPAddress(text) == nil || text.hasPrefix("[")
        {
            report(".serverIPAddress", address, "is not an IPv4 address or an IPv6 address without brackets")
        }
        guard let started = node["startedDateTime"], let text = started.string, let date = Timestamp.date(text) else {
            return
        }
        if let before = last.flatMap(Timestamp.date), before > date {
            report(".startedDateTime", started, "is earlier than that of the previous entry", .hint)
        }
        last = text
    }

    /// Checks that the total time is the sum of its phases, and that the TLS handshake is part of connecting.
    private func timings(_ node: JSONNode, _ time: JSONNode?) {
        let optional = ["blocked", "dns", "connect", "ssl"].map {
            Member($0, .number(orUnknown: true), isRequired: false)
        }
        let required = ["send", "wait", "receive"].map { Member($0, .number(orUnknown: false)) }
        object(".timings", node, optional + required)
        let phases = ["blocked", "dns", "connect", "send", "wait", "receive"]
        let sum = phases.compactMap { node[$0]?.number }.filter { $0 > 0 }.reduce(0, +)
        if let tls = node["ssl"]?.number, tls > node["connect"]?.number ?? 0 {
            report(".timings.ssl", node, "is longer than connect, which includes it", .hint)
        }
        guard let time, let whole = time.number, abs(whole - sum) > max(0.01, whole * 1e-9) else { return }
        report(".time", time, "is \(time.numberText ?? ""), but its phases add up to \(sum)", .hint)
    }

    /// Returns whether an entry may have this JSON text as its `cache`.
    static func allows(cache json: String) -> Bool {
        guard let node = (try? ParsedJSON(Array(json.utf8)))?.root, node.kind == .object else { return false }
        var isAllowed = true
        let part = ArchivePart(kind: .entry(0), path: "", offset: 0, bytes: [])
        HARCheck(file: "", part: part) { if $0.severity == .error { isAllowed = false } }.cache(node)
        return isAllowed
    }

    private func cache(_ node: JSONNode) {
        let states = ["beforeRequest", "afterRequest"]
        object(".cache", node, states.map { Member($0, .objectOrNull, isRequired: false) })
        let members: [Member] = [
            Member("expires", .date, isRequired: false), Member("lastAccess", .date), Member("eTag", .text),
            Member("hitCount", .number(orUnknown: false)),
        ]
        for name in states {
            if let state = node[name], state.kind == .object { object(".cache.\(name)", state, members) }
        }
    }
}

// MARK: - Messages

extension HARCheck {
    private static let message: [Member] = [
        Member("httpVersion", .text), Member("cookies", .array), Member("headers", .array),
        Member("headersSize", .whole(orUnknown: true)), Member("bodySize", .whole(orUnknown: true)),
    ]
    private static let request =
        message + [
            Member("method", .text), Member("url", .text), Member("queryString", .array),
            Member("postData", .object, isRequired: false),
        ]
    private static let response =
        message + [
            Member("status", .whole(orUnknown: false)), Member("statusText", .text), Member("content", .object),
            Member("redirectURL", .text),
        ]
    private static let pair: [Member] = [Member("name", .text), Member("value", .text)]
    private static let cookie =
        pair + [
            Member("path", .text, isRequired: false), Member("domain", .text, isRequired: false),
            Member("expires", .dateOrNull, isRequired: false), Member("httpOnly", .bool, isRequired: false),
            Member("secure", .bool, isRequired: false),
        ]

    private func request(_ node: JSONNode) {
        object(".request", node, Self.request)
        lists(".request", node)
        elements(".request.queryString", node["queryString"]) { object($0, $1, Self.pair) }
        if let url = node["url"], let text = url.string {
            if !text.contains("://") { report(".request.url", url, "is not an absolute URL") }
            if text.utf8.contains(UInt8(ascii: "#")) {
                report(".request.url", url, "has a fragment, which is never sent")
            }
        }
        if let body = node["postData"], body.kind == .object { postData(body) }
    }

    private func postData(_ node: JSONNode) {
        let isElsewhere = node["_file"] != nil
        object(
            ".request.postData",
            node,
            [
                Member("mimeType", .text), Member("params", .array, isRequired: false),
                Member("text", .text, isRequired: !isElsewhere && node["params"] == nil),
            ]
        )
        bodyFile(".request.postData", node)
        elements(".request.postData.params", node["params"]) { path, item in
            let optional = ["value", "fileName", "contentType"].map { Member($0, .text, isRequired: false) }
            object(path, item, [Member("name", .text)] + optional)
        }
        // Chrome, Firefox, Insomnia and mitmproxy write both.
        if node["text"] != nil, let parameters = node["params"], parameters.elements.contains(where: { _ in true }) {
            report(".request.postData.params", parameters, "must not be present together with text", .hint)
        }
    }

    private func response(_ node: JSONNode) {
        object(".response", node, Self.response)
        lists(".response", node)
        guard let content = node["content"], content.kind == .object else { return }
        let path = ".response.content"
        let members: [Member] = [
            Member("size", .whole(orUnknown: true)), Member("mimeType", .text),
            Member("compression", .signed, isRequired: false), Member("text", .text, isRequired: false),
            Member("encoding", .text, isRequired: false),
        ]
        object(path, content, members)
        bodyFile(path, content)
        guard let text = content["text"]?.string else { return }
        if content["encoding"]?.string == "base64", Data(base64Encoded: text, options: .ignoreUnknownCharacters) == nil
        {
            report("\(path).text", content["text"] ?? content, "is not base64, although its encoding says so")
        }
    }

    /// Checks that the file of a body exists beside the archive.
    private func bodyFile(_ path: String, _ node: JSONNode) {
        guard let member = node["_file"] else { return }
        guard let name = member.string else { return report("\(path)._file", member, "should be a string") }
        do throws(NetworkError) {
            _ = try files.file(name)
        } catch {
            report("\(path)._file", member, "names a file that cannot be read: \(error.message)")
        }
    }

    private func lists(_ path: String, _ node: JSONNode) {
        elements("\(path).headers", node["headers"]) { path, item in
            object(path, item, Self.pair)
            if let value = item["value"]?.string, value.utf8.contains(where: { [0, 10, 13].contains($0) }) {
                report("\(path).value", item, "has a line break or NUL, which a header field must not have")
            }
        }
        elements("\(path).cookies", node["cookies"]) { object($0, $1, Self.cookie) }
    }
}

extension HARCheck.Member {
    init(_ name: String, _ rule: HARCheck.Rule, isRequired: Bool = true) {
        self.init(name: name, rule: rule, isRequired: isRequired)
    }
}
