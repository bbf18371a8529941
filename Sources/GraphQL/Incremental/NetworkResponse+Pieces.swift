import BeagleNet
import BeagleNetHTTP

extension NetworkResponse {
    /// A body of pieces, as some servers send it unasked, as the whole answer that they make: one that was whole to the byte.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` where pieces are missing, and `.decoding` where they are none.
    func joiningPieces() throws(NetworkError) -> NetworkResponse {
        var (reader, merge) = (
            try GraphQLPayloadReader(contentType: response.headerFields[single: .contentType]), IncrementalMerge()
        )
        var last: Data?
        reader.feed(data)
        do throws(NetworkError) {
            func take(_ payload: Data) throws(NetworkError) {
                last = payload
                _ = try merge.take(text: payload)
            }
            while let payload = try reader.next() { try take(payload) }
            // Behind what says that nothing follows an end need not come.
            if merge.hasNext != false, let payload = try reader.finish() { try take(payload) }
        } catch {
            throw error.holding(self)
        }
        guard let last else { throw .malformed("the response has no payload", self) }
        if merge.isUnfinished { throw .endedEarly(self) }
        var whole = self
        whole.data = merge.isWhole ? last : try merge.response.data()
        whole.response.headerFields[.contentType] = "application/graphql-response+json"
        return whole
    }
}

extension NetworkError {
    /// A server announced more than came.
    static func endedEarly(_ response: NetworkResponse) -> NetworkError {
        NetworkError(
            .truncated,
            during: .body,
            "the response ended before it was complete",
            advice: "treat the data received so far as valid but incomplete"
        ).holding(response)
    }
}
