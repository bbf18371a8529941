import BeagleNetHTTP

/// A received part of a multipart form: a text with its value, or a file with its size.
struct ReceivedPart: Encodable {
    let name: String
    let filename: String?
    let type: String?
    private(set) var bytes = 0
    private(set) var value: String?

    /// The maximum size of a text, in bytes. The value of a longer one is discarded, as for a file.
    private static let maxText = 64 << 10
    private static let maxParts = 1000

    /// Reads the parts of a body as it arrives.
    ///
    /// - Throws: `NetworkError` if the body isn't a multipart form, or the error that ended it early.
    static func all(of body: BackendBody, contentType: String) throws -> [ReceivedPart] {
        var reader = try MultipartReader(contentType: contentType)
        var parts: [ReceivedPart] = []
        while let chunk = try body.next() {
            reader.feed(chunk)
            while let element = try reader.next() {
                switch element {
                case .head(let fields):
                    guard parts.count < maxParts else { throw RequestFault(.contentTooLarge, "too many parts") }
                    parts.append(ReceivedPart(fields))
                case .body(let piece): parts[parts.count - 1].take(piece)
                case .end: break
                }
            }
        }
        try reader.finish()
        return parts
    }

    private init(_ fields: HTTPFields) {
        // The parameters of `form-data; name="a"` have the syntax of media type parameters.
        let parameters = MediaType("multipart/\(fields[.contentDisposition] ?? "")")?.parameters ?? [:]
        name = parameters["name"] ?? ""
        filename = parameters["filename"]
        type = fields[.contentType]
        value = filename == nil ? "" : nil
    }

    private mutating func take(_ piece: Data) {
        bytes += piece.count
        value = bytes > Self.maxText ? nil : value.map { $0 + String(decoding: piece, as: UTF8.self) }
    }
}
