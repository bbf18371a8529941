import BeagleNet
import BeagleNetHTTP

extension NetworkResponse {
    /// Returns the complete response made from a body of parts, which some servers send without being asked. A single
    /// complete part keeps its exact bytes.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` if parts are missing, and `.decoding` if they are invalid.
    func mergingIncrementalParts() throws(NetworkError) -> NetworkResponse {
        var (reader, merge) = (
            try GraphQLPayloadReader(contentType: response.headerFields[single: .contentType]), IncrementalMerge()
        )
        var last: Data?
        reader.feed(data)
        do throws(NetworkError) {
            func take(_ payload: Data) throws(NetworkError) {
                last = payload
                _ = try merge.apply(text: payload)
            }
            while let payload = try reader.next() { try take(payload) }
            // After a payload that states it is the last, the end marker may be missing.
            if merge.hasNext != false, let payload = try reader.finish() { try take(payload) }
        } catch {
            throw error.attaching(self)
        }
        guard let last else { throw .malformed("the response has no payload", self) }
        if merge.isUnfinished { throw .endedEarly(self) }
        var whole = self
        whole.data = merge.isSinglePayload ? last : try merge.response.data()
        whole.response.headerFields[.contentType] = "application/graphql-response+json"
        return whole
    }
}

extension NetworkError {
    /// Returns an error for a response that ended before all announced parts arrived.
    static func endedEarly(_ response: NetworkResponse) -> NetworkError {
        NetworkError(
            .truncated,
            during: .body,
            "the response ended before it was complete",
            advice: "treat the data received so far as valid but incomplete"
        ).attaching(response)
    }
}
