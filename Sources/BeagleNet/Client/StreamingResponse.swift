public import BeagleNetHTTP

/// A response whose body is still to be read.
public struct StreamingResponse: Sendable {
    /// Status and header fields; any status.
    public var response: HTTPResponse
    /// The decoded body, read as it comes: whoever reads slowly slows the server down, whoever stops reading and lets
    /// it go ends the transfer.
    public var body: HTTPBody
    /// The URL that answered, after redirects; empty where the client does not tell.
    public var url: String

    /// Describes a response.
    public init(response: HTTPResponse, body: HTTPBody, url: String = "") {
        self.response = response
        self.body = body
        self.url = url
    }

    /// The whole response in memory.
    ///
    /// - Parameter limit: the most bytes to take, 256 MiB by default.
    /// - Throws: `NetworkError` of kind `.tooLarge` beyond `limit`, or what ended the body early.
    public func collect(upTo limit: Int = 256 << 20) async throws(NetworkError) -> NetworkResponse {
        NetworkResponse(data: try await body.collect(upTo: limit), response: response, url: url)
    }
}
