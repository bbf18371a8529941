import BeagleNetHTTP

extension Recording {
    /// What stands beside the entries, as a writer of archives takes it: entries are written as HAR 1.2 has them, so that its
    /// version is ours, and what is no creator, browser or page is left out.
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

    /// The same without secrets; a member in which nobody can tell what is secret is left out.
    package func writableMembers(redactedBy redactor: Redactor) -> [HARReader.Member] {
        writableMembers.compactMap { $0.redacted(by: redactor) }
    }
}

extension HARReader.Member {
    fileprivate var isValid: Bool {
        guard let node = (try? JSONDocument(json))?.root else { return false }
        var isValid = true
        let part = ArchivePart(kind: .logMember(name), path: "", offset: 0, bytes: json)
        HARCheck(file: "", part: part) { if $0.severity == .error { isValid = false } }.logMember(name, node)
        return isValid
    }

    /// The pages that are some, without marks in time that are no numbers; nil where it is no list.
    fileprivate var pages: HARReader.Member? {
        guard let list = (try? JSONDocument(json))?.root, list.kind == .array else { return nil }
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

    /// In an object, as its name may say that it is secret.
    fileprivate func redacted(by redactor: Redactor) -> HARReader.Member? {
        var output = JSONOutput()
        output.object { output in
            output.name(escaping: name)
            output.raw(json)
        }
        let whole = Data(output.bytes)
        guard let redacted = redactor.redact(body: whole, contentType: "application/json").data else { return nil }
        guard redacted != whole else { return self }
        guard let value = (try? JSONDocument(redacted))?.root[name] else { return nil }
        return HARReader.Member(name: name, json: value.raw.map { $0 })
    }
}
