import BeagleNet

extension Recording {
    /// Returns the bytes of a completely recorded body.
    ///
    /// - Throws: the errors of `data(of:upTo:)`, and `NetworkError` if only the beginning was recorded.
    func wholeBody(_ body: LogEntry.Body) throws(NetworkError) -> Data {
        if case .omitted = body.content { return try data(of: body) }
        guard !body.isTruncated else {
            throw NetworkError(.notStored, during: .file, "only the beginning of the body was recorded")
        }
        return try data(of: body)
    }
}
