public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// Follows the server-sent events of what `target` names, over as many connections as it takes.
    ///
    /// - Parameters:
    ///   - target: path or URL, asked for with GET.
    ///   - query: items put after the query that `target` has.
    ///   - headers: header fields of each request.
    /// - Returns: the events, an `AsyncSequence`; nothing is asked before it is iterated. See its properties for what may
    ///   be set first.
    /// - Throws: `NetworkError` where `target` is no URL.
    public func events(
        _ target: some RequestTarget,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:]
    ) throws(NetworkError) -> EventSource {
        var request = try makeRequest(target, .rawRequest(Request.RequestData()), query, [:], nil)
        request.options = options.forEvents
        return EventSource(isRepeatable: true) { [request] (lastEventID) throws(NetworkError) in
            var request = request
            let fields = EventSource.fields(behind: lastEventID)
            var headers = headers.filter { name, _ in HTTPField.Name(name).map { !fields.contains($0) } ?? true }
            for field in fields { headers[field.name.rawName] = field.value }
            request.additionalData = HttpAdditionalData(headers: headers)
            let response = try await stream(request)
            return TransferResponse(head: response.response, body: response.body, url: response.url)
        }
    }
}
