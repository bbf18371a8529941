extension Redactor {
    /// Where secrets still are in fields that claim to be redacted; as `RedactionAudit` writes places.
    ///
    /// These are the rules by which is redacted: what stands in place of a secret is none.
    public func findings(in fields: HTTPFields, at place: String) -> [String] {
        var audit = RedactionAudit()
        _ = redact(fields, at: place, noting: &audit)
        return audit.places
    }

    /// Where secrets still are in a URL that claims to be redacted.
    public func findings(inURL url: String, at place: String) -> [String] {
        var audit = RedactionAudit()
        _ = redact(url: url, at: place, noting: &audit)
        return audit.places
    }

    /// Where secrets still are in text that claims to be redacted.
    public func findings(inText text: String, at place: String) -> [String] {
        var audit = RedactionAudit()
        _ = redact(text: text, at: place, noting: &audit)
        return audit.places
    }

    /// Where secrets still are in a body that claims to be redacted. A body in which nobody can tell is one finding: the
    /// place, a colon, and the reason in brackets (`content.text:[malformed]`).
    public func findings(in body: Data, contentType: String?, at place: String) -> [String] {
        var audit = RedactionAudit()
        guard case .omitted(let reason) = redact(body: body, contentType: contentType, at: place, noting: &audit) else {
            return audit.places
        }
        return audit.places + ["\(place):[\(reason.rawValue)]"]
    }
}
