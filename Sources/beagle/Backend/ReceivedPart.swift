import BeagleNetHTTP

/// What a part of a multipart form brought: of text the text, of a file how much.
struct ReceivedPart: Encodable {
    let name: String
    let filename: String?
    let type: String?
    private(set) var bytes = 0
    private(set) var value: String?

    /// Text longer than this is counted like a file.
    private static let maxText = 64 << 10
    private static let maxParts = 1000

    /// Reads a body as it comes.
    ///
    /// - Throws: `NetworkError` where it is no multipart form, or what ended it early.
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
        // `form-data; name="a"` has parameters like those of a media type.
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
