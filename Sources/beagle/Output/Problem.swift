import BeagleNetHTTP

/// What the body of an error says to people: a problem (RFC 9457), or a list of errors, each with its field.
struct Problem {
    /// What went wrong, where the body says so.
    var detail: String?
    /// Which fields of a form are wrong, and why.
    var fields: [(name: String, message: String)] = []

    /// Reads a body; nil where it is no JSON object.
    init?(_ body: Data) {
        guard let value = try? JSONValue(parsing: body), value.object != nil else { return nil }
        detail = ["detail", "message", "error", "title"].lazy.compactMap { value[$0]?.string?.printable }.first
        fields = (value["errors"]?.array ?? []).compactMap { error in
            // A pointer is `#/email`, as the example of RFC 9457, 3 has it.
            let pointed = error["pointer"]?.string?.split(separator: "/").last.map(String.init)
            guard let name = error["field"]?.string ?? pointed,
                let message = error["message"]?.string ?? error["detail"]?.string
            else { return nil }
            return (name.printable, message.printable)
        }
    }
}
