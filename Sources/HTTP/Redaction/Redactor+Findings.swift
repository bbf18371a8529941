extension Redactor {
    /// Returns the locations of secrets that are left in supposedly redacted fields, as in `Redactor.Audit`.
    ///
    /// The rules are the same as for redacting, so placeholders aren't secrets.
    public func findings(in fields: HTTPFields, at place: String) -> [String] {
        var audit = Audit()
        _ = redact(fields, at: place, recordingTo: &audit)
        return audit.places
    }

    /// Returns the locations of secrets that are left in a supposedly redacted URL.
    public func findings(inURL url: String, at place: String) -> [String] {
        var audit = Audit()
        _ = redact(url: url, at: place, recordingTo: &audit)
        return audit.places
    }

    /// Returns the locations of secrets that are left in supposedly redacted text.
    public func findings(inText text: String, at place: String) -> [String] {
        var audit = Audit()
        _ = redact(text: text, at: place, recordingTo: &audit)
        return audit.places
    }

    /// Returns the locations of secrets that are left in a supposedly redacted body.
    ///
    /// If the body can't be checked, this is one finding: the location, a colon, and the reason in brackets
    /// (`content.text:[malformed]`).
    public func findings(in body: Data, contentType: String?, at place: String) -> [String] {
        var audit = Audit()
        guard case .omitted(let reason) = redact(body: body, contentType: contentType, at: place, recordingTo: &audit)
        else {
            return audit.places
        }
        return audit.places + ["\(place):[\(reason.rawValue)]"]
    }
}
