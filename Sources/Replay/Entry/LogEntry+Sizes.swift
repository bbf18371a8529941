extension LogEntry {
    /// Sets all sizes of a body to the redacted size. The original size would reveal the length of a removed secret.
    ///
    /// - Parameter bytes: the size of the redacted body, in bytes; -1 if unknown.
    mutating func setBodySize(_ bytes: Int64, of side: MessageSide) {
        switch side {
        case .request:
            request.body?.size = bytes
            // An unknown or zero size reveals nothing.
            if request.bodyBytes > 0 { request.bodyBytes = bytes }
            request.fields.setContentLength(bytes)
        case .response:
            response?.body.size = bytes
            if let sent = response?.bodyBytes, sent > 0 { response?.bodyBytes = bytes }
            response?.fields.setContentLength(bytes)
        }
    }
}

extension [LogEntry.Field] {
    fileprivate mutating func setContentLength(_ bytes: Int64) {
        let isLength = { (field: LogEntry.Field) in field.name.lowercased() == "content-length" }
        if bytes < 0 { return removeAll(where: isLength) }
        for index in indices where isLength(self[index]) { self[index].value = "\(bytes)" }
    }
}
