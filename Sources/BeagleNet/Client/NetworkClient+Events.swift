public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// Returns the server-sent events of `target`, over as many connections as necessary.
    ///
    /// - Parameters:
    ///   - target: A path or URL, requested with GET.
    ///   - query: The items to append to the query of `target`.
    ///   - headers: The header fields of each request.
    /// - Returns: The events as an `AsyncSequence`. No request is sent before iteration begins; see the properties of
    ///   `EventSource` for options to set before.
    /// - Throws: `NetworkError` if `target` isn't a URL.
    public func events(
        _ target: some Request.Target,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:]
    ) throws(NetworkError) -> EventSource {
        var request = try makeRequest(target, .rawRequest(Request.RequestData()), query, [:], nil)
        request.options = options.forEventStream
        return EventSource(isRepeatable: true) { [request] (lastEventID) throws(NetworkError) in
            var request = request
            let fields = EventSource.fields(after: lastEventID)
            var headers = headers.filter { name, _ in HTTPField.Name(name).map { !fields.contains($0) } ?? true }
            for field in fields { headers[field.name.rawName] = field.value }
            request.additionalData = HttpAdditionalData(headers: headers)
            let response = try await stream(request)
            return TransferResponse(head: response.response, body: response.body, url: response.url)
        }
    }
}
