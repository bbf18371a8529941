import BeagleNetHTTP

extension Recording {
    /// The members beside the entries, for a writer of archives.
    ///
    /// The version is omitted, because entries are always written as HAR 1.2. Invalid creators, browsers and pages are
    /// also omitted.
    package var writableMembers: [HARReader.Member] {
        members.compactMap { member in
            switch member.name {
            case "version": nil
            case "creator", "browser", "comment": member.isValid ? member : nil
            case "pages": member.isValid ? member : member.pages
            default: member
            }
        }
    }

    /// Returns the members without secrets.
    ///
    /// A member that cannot be checked for secrets is omitted.
    package func writableMembers(redactedBy redactor: Redactor) -> [HARReader.Member] {
        writableMembers.compactMap { $0.redacted(by: redactor) }
    }
}

extension HARReader.Member {
    fileprivate var isValid: Bool {
        guard let node = (try? ParsedJSON(json))?.root else { return false }
        var isValid = true
        let part = ArchivePart(kind: .logMember(name), path: "", offset: 0, bytes: json)
        HARCheck(file: "", part: part) { if $0.severity == .error { isValid = false } }.logMember(name, node)
        return isValid
    }

    /// The valid pages, without timings that aren't numbers; `nil` if the member is not an array.
    fileprivate var pages: HARReader.Member? {
        guard let list = (try? ParsedJSON(json))?.root, list.kind == .array else { return nil }
        var output = JSONOutput()
        output.array { output in
            for page in list.elements.map(Self.page) where Self(name: name, json: [0x5B] + page + [0x5D]).isValid {
                output.raw(page)
            }
        }
        return Self(name: name, json: output.bytes)
    }

    private static func page(_ node: JSONNode) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            for (name, value) in node.members where name != "pageTimings" {
                output.name(escaping: name)
                output.raw(value.raw)
            }
            output.name("pageTimings")
            output.object { output in
                for (name, value) in node["pageTimings"]?.members.map({ $0 }) ?? [] where value.number != nil {
                    output.name(escaping: name)
                    output.raw(value.raw)
                }
            }
        }
        return output.bytes
    }

    /// Returns the member without secrets. It is redacted within an object, because its name may mark it as secret.
    fileprivate func redacted(by redactor: Redactor) -> HARReader.Member? {
        var output = JSONOutput()
        output.object { output in
            output.name(escaping: name)
            output.raw(json)
        }
        let whole = Data(output.bytes)
        guard let redacted = redactor.redact(body: whole, contentType: "application/json").data else { return nil }
        guard redacted != whole else { return self }
        guard let value = (try? ParsedJSON(redacted))?.root[name] else { return nil }
        return HARReader.Member(name: name, json: value.raw.map { $0 })
    }
}
