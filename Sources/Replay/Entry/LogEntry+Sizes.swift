extension LogEntry {
    /// Has all sizes of a body say what is left of it, since together with that they would tell how long a secret was that
    /// was taken out.
    ///
    /// - Parameter bytes: what is left; -1 where nobody knows.
    mutating func tellSize(_ bytes: Int64, of side: BodySide) {
        switch side {
        case .request:
            request.body?.size = bytes
            // What is unknown, or nothing, tells nothing.
            if request.bodyBytes > 0 { request.bodyBytes = bytes }
            request.fields.tellLength(bytes)
        case .response:
            response?.body.size = bytes
            if let sent = response?.bodyBytes, sent > 0 { response?.bodyBytes = bytes }
            response?.fields.tellLength(bytes)
        }
    }
}

extension [LoggedField] {
    fileprivate mutating func tellLength(_ bytes: Int64) {
        let isLength = { (field: LoggedField) in field.name.lowercased() == "content-length" }
        if bytes < 0 { return removeAll(where: isLength) }
        for index in indices where isLength(self[index]) { self[index].value = "\(bytes)" }
    }
}
