import BeagleNet

extension Recording {
    /// The bytes of a body of which the recording has all.
    ///
    /// - Throws: `NetworkError` as `data(of:upTo:)`, and where the recording has only the beginning.
    func wholeBody(_ body: LoggedBody) throws(NetworkError) -> Data {
        if case .omitted = body.content { return try data(of: body) }
        guard !body.isTruncated else {
            throw NetworkError(.notStored, during: .file, "only the beginning of the body was recorded")
        }
        return try data(of: body)
    }
}
