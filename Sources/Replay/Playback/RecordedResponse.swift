import BeagleNet
package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A recorded response in the form in which it is sent over HTTP/1.1.
package struct RecordedResponse: Sendable {
    /// The time to wait before the head is sent.
    package let wait: Duration
    /// The recorded failure; `nil` if there is a response.
    package let failure: NetworkError?
    package var status = 0
    package var statusText = ""
    /// The header fields, except for those that describe the framing and coding of the body.
    package var fields: [LogEntry.Field] = []
    package var interim: [LogEntry.Head] = []
    package var trailers: [LogEntry.Field] = []
    /// The decoded body, each piece of which arrives when it is due; `nil` if the response has none.
    package var body: HTTPBody?
    /// The length of the body in bytes; `nil` if it was unknown before the body was received.
    package var length: Int64?
    /// The content coding of the recorded body.
    package var coding: String?

    /// Creates a failure.
    init(wait: Duration, failure: NetworkError) {
        self.wait = wait
        self.failure = failure
    }

    init(
        _ replayResponse: ReplayResponse,
        wait: Duration,
        _ pieces: HTTPBody,
        _ located: ([LogEntry.Field]) -> [LogEntry.Field]
    ) {
        self.wait = wait
        failure = nil
        let response = replayResponse.response
        (status, statusText) = (response.status, response.statusText)
        let isStreamed =
            response.fields["Transfer-Encoding"] != nil || replayResponse.isEventStream || replayResponse.failure != nil
            || !response.trailers.isEmpty
        let framing = Self.hop.union(replayResponse.hasBody ? ["content-length", "content-encoding"] : [])
        fields = located([LogEntry.Field](replayResponse.head.headerFields)).filter { field in
            let name = field.name.lowercased()
            return !framing.contains(name) && !(status == 204 && name == "content-length")
        }
        interim = response.interim.filter { (100..<200).contains($0.status) && $0.status != 101 }
        trailers = response.trailers
        guard replayResponse.hasBody else { return }
        body = pieces
        coding = response.fields["Content-Encoding"]?.lowercased()
        // Archives omit empty bodies.
        let size = if case .omitted = response.body.content { max(response.body.size, 0) } else { response.body.size }
        length = isStreamed || size < 0 ? nil : size
    }

    /// The fields of a connection (RFC 9110, 7.6.1), and `alt-svc`, which leads to the recorded server.
    private static let hop: Set = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "trailer", "upgrade", "alt-svc",
    ]
}
