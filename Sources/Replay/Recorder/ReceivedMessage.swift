import BeagleNet
import BeagleNetHTTP

/// The parts of a received response that a log needs.
struct ReceivedMessage: Sendable {
    var head: RawHead
    var body: LogEntry.Body
    var metrics: TransferMetrics
    var trailers: HTTPFields = [:]
    var interim: [HTTPResponse] = []
    /// The target URL of a redirect.
    var redirectURL = ""

    /// The response as it is recorded.
    var logged: LogEntry.Response {
        let isText = metrics.protocolName.hasPrefix("HTTP/1")
        return LogEntry.Response(
            status: head.status.code,
            statusText: head.status.reasonPhrase,
            httpVersion: metrics.protocolName,
            fields: [LogEntry.Field](head),
            body: body,
            redirectURL: redirectURL,
            // With interim responses or trailers, the size of the head alone is unknown.
            headBytes: isText && interim.isEmpty && trailers.isEmpty ? metrics.headBytesReceived : -1,
            bodyBytes: metrics.protocolName.isEmpty ? -1 : metrics.bytesReceived,
            trailers: [LogEntry.Field](trailers),
            interim: interim.map { LogEntry.Head(status: $0.status.code, fields: [LogEntry.Field]($0.headerFields)) }
        )
    }
}

extension ReceivedMessage {
    init(_ stream: StreamingResponse, _ head: RawHead, _ body: LogEntry.Body) {
        self.init(head: head, body: body, metrics: stream.metrics, interim: stream.interim)
    }
}

extension [LogEntry.Field] {
    fileprivate init(_ head: RawHead) {
        self = []
        reserveCapacity(16)
        head.forEachField { append(LogEntry.Field($0, $1)) }
    }
}

extension HTTPResponse {
    var mediaType: String { headerFields[single: .contentType] ?? "" }
    var isEventStream: Bool { MediaType(mediaType)?.essence == MediaType.eventStream }
}

extension TransferMetrics {
    /// The server's address without port and brackets; `nil` if there was no connection.
    var serverAddress: String? {
        guard let colon = remoteAddress.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let address = remoteAddress[..<colon]
        return String(address.hasPrefix("[") ? address.dropFirst().dropLast() : address)
    }

    /// The local port, which distinguishes connections that are open at the same time.
    var connectionName: String? { localPort > 0 ? String(localPort) : nil }
}

extension NetworkResponse {
    /// Creates a response from a streamed one whose body is in memory.
    init(_ stream: StreamingResponse) {
        self.init(
            data: stream.body.data ?? Data(),
            response: stream.response,
            url: stream.url,
            metrics: stream.metrics,
            trailers: stream.trailers
        )
    }
}

extension TransferRequest.Delivery {
    var path: String? {
        if case .file(let path) = self { return path }
        return nil
    }
}
