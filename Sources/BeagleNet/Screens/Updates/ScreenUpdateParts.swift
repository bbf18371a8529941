import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The updates in the parts of a multipart response.
struct ScreenUpdateParts {
    private let client: any NetworkClient
    private let request: Request
    private var response: (reader: MultipartReader, body: HTTPBody.AsyncIterator)?
    private var part: (type: String, data: Data) = ("", Data())

    init(_ client: any NetworkClient, _ request: Request) {
        (self.client, self.request) = (client, request)
    }

    /// Returns the next update, or `nil` after the last boundary. The first call sends the request.
    ///
    /// - Throws: `NetworkError`; of kind `.status` if the status is outside 200...299, `.protocol` if the response isn't
    ///   a multipart one, `.truncated` if it ends early, `.tooLarge` for a part that is larger than a screen may be, and
    ///   `.decoding` for a part that isn't an update.
    mutating func next() async throws -> ScreenUpdate? {
        var (reader, body) = if let response { response } else { try await open() }
        // A single owner, so that the reader's buffer isn't copied for each chunk.
        response = nil
        defer { response = (reader, body) }
        while true {
            while let element = try reader.next() {
                switch element {
                case .head(let fields):
                    part = (fields[values: .contentType].first ?? "application/json", Data())
                case .body(let data):
                    part.data += data
                    guard part.data.count <= ParsedScreen.maxBytes else { throw Self.tooLarge }
                case .end: return try ScreenUpdate(parsing: part.data, type: part.type)
                }
            }
            if reader.isFinished { return nil }
            guard let chunk = try await body.next() else {
                try reader.finish()
                return nil
            }
            reader.feed(chunk)
        }
    }

    private func open() async throws(NetworkError) -> (MultipartReader, HTTPBody.AsyncIterator) {
        let response = try await client.stream(request)
        guard response.response.status.kind == .successful else { throw try await response.collect().statusError() }
        let type = response.response.headerFields[single: .contentType] ?? ""
        return (try MultipartReader(contentType: type, acceptsLineFeeds: true), response.body.makeAsyncIterator())
    }

    private static let tooLarge = NetworkError(
        .tooLarge,
        during: .body,
        "a part with an update has more than the \(ParsedScreen.maxBytes) bytes that are allowed"
    )
}
