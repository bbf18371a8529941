/// The body of a message: bytes in memory, a file, or chunks that come as they are read.
///
/// Iterate it with `for try await chunk in body`, or take it whole with `collect(upTo:)`. A body of bytes or of a file
/// can be read again and again; a streamed one once, unless it says `isReplayable`.
public struct HTTPBody: Sendable {
    /// Gives the next chunk, or nil at the end.
    package typealias Reader = @Sendable () async throws -> Data?

    package enum Content: Sendable {
        case data(Data)
        case file(path: String)
        case stream(length: Int64?, isReplayable: Bool, open: @Sendable () -> Reader)
    }

    package let content: Content

    package init(_ content: Content) {
        self.content = content
    }

    /// A body of no bytes.
    public init() {
        content = .data(Data())
    }

    /// A body of these bytes.
    public init(_ data: Data) {
        content = .data(data)
    }

    /// A body of this text in UTF-8.
    public init(_ text: String) {
        content = .data(Data(text.utf8))
    }

    /// The contents of a regular file, read as they are sent and never held in memory.
    ///
    /// - Parameter path: the file; a missing one is an error of the transfer, before anything is sent.
    public static func file(path: String) -> HTTPBody {
        HTTPBody(.file(path: path))
    }

    /// A body whose chunks come from an asynchronous sequence.
    ///
    /// - Parameters:
    ///   - length: bytes in all where known; without it HTTP/1.1 sends chunks (RFC 9112, 7.1). A sequence that gives
    ///     more or fewer ends the transfer in an error of kind `.badRequest`; the last byte is sent when it has ended.
    ///     Of a body of 0 bytes nothing is read.
    ///   - isReplayable: whether `makeChunks` may be called again, as a 307 redirect or a lost connection needs it. No by
    ///     default; then the request fails, and its error says so.
    ///   - makeChunks: begins the sequence; called once for every time the body is sent, and must not block.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil,
        isReplayable: Bool = false,
        _ makeChunks: @escaping @Sendable () -> Chunks
    ) -> HTTPBody where Chunks.Element == Data {
        HTTPBody(
            .stream(length: length, isReplayable: isReplayable) {
                let iterator = ChunkIterator(makeChunks())
                return { try await iterator.next() }
            }
        )
    }

    /// Bytes in all, where that is known without reading.
    public var length: Int64? {
        switch content {
        case .data(let data): Int64(data.count)
        case .file: nil
        case .stream(let length, _, _): length
        }
    }

    /// Whether the body can be read a second time.
    public var isReplayable: Bool {
        if case .stream(_, let isReplayable, _) = content { return isReplayable }
        return true
    }

    /// The bytes, where they are in memory already.
    public var data: Data? {
        if case .data(let data) = content { return data }
        return nil
    }

    /// The whole body in memory.
    ///
    /// - Parameter limit: the most bytes to take, 256 MiB by default.
    /// - Throws: `NetworkError` of kind `.tooLarge` beyond `limit`, or what ended the body early.
    public func collect(upTo limit: Int = 256 << 20) async throws(NetworkError) -> Data {
        var whole = Data()
        if let data {
            whole = data
        } else {
            try await NetworkError.catching {
                for try await chunk in self {
                    whole.append(chunk)
                    if whole.count > limit { break }
                }
            }
        }
        guard whole.count <= limit else {
            throw NetworkError(.tooLarge, during: .body, "the body is larger than the \(limit) bytes allowed")
        }
        return whole
    }
}

extension NetworkError {
    /// A body to send that is not as long as was said.
    ///
    /// - Parameter count: bytes in all, or so far where there are too many.
    package static func wrongLength(_ count: Int64, declared length: Int64) -> NetworkError {
        let found = count < length ? "ended after \(count) bytes" : "has at least \(count) bytes"
        return NetworkError(
            .badRequest,
            during: .send,
            "the request body \(found), but \(length) bytes were declared",
            advice: "declare the exact length, or omit it"
        )
    }
}

extension HTTPBody: AsyncSequence {
    /// Gives the chunks of a body one after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        package let reader: Reader

        /// The next chunk, never empty, or nil at the end.
        public mutating func next() async throws -> Data? {
            while let chunk = try await reader() {
                if !chunk.isEmpty { return chunk }
            }
            return nil
        }
    }

    /// Begins reading; a streamed body can be read once unless it `isReplayable`.
    public func makeAsyncIterator() -> AsyncIterator {
        switch content {
        case .data(let data):
            let rest = Lock<Data?>(data)
            return AsyncIterator(reader: {
                rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
            })
        case .file(let path):
            let file = FileReader(path: path)
            return AsyncIterator(reader: { try file.next() })
        case .stream(_, _, let open):
            return AsyncIterator(reader: open())
        }
    }
}

/// Carries a sequence's iterator from call to call.
///
/// `@unchecked Sendable` is sound because a body is read by one reader, which waits for each chunk before it asks for
/// the next, so that `iterator` is never reached twice at once.
private final class ChunkIterator<Chunks: AsyncSequence>: @unchecked Sendable where Chunks.Element == Data {
    private var iterator: Chunks.AsyncIterator

    init(_ chunks: Chunks) {
        iterator = chunks.makeAsyncIterator()
    }

    func next() async throws -> Data? {
        try await iterator.next()
    }
}
