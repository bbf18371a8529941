/// The body of a request or response: bytes in memory, a file, or a stream of chunks.
///
/// Iterate over it with `for try await chunk in body`, or read all of it with `collect(upTo:)`. A body of bytes or of a
/// file can be read any number of times, a stream only once unless `isReplayable` is `true`.
public struct HTTPBody: Sendable {
    /// Returns the next chunk, or `nil` at the end.
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

    /// Creates an empty body.
    public init() {
        content = .data(Data())
    }

    /// Creates a body from bytes.
    public init(_ data: Data) {
        content = .data(data)
    }

    /// Creates a body from text, encoded as UTF-8.
    public init(_ text: String) {
        content = .data(Data(text.utf8))
    }

    /// Creates a body from a regular file, which is read while it is sent and never held in memory.
    ///
    /// - Parameter path: The path of the file. If it doesn't exist, the transfer fails before anything is sent.
    public static func file(path: String) -> HTTPBody {
        HTTPBody(.file(path: path))
    }

    /// Creates a body from an asynchronous sequence of chunks.
    ///
    /// - Parameters:
    ///   - length: The total size in bytes, if known. Without it, HTTP/1.1 uses chunked transfer coding (RFC 9112,
    ///     7.1). If the sequence yields more or fewer bytes, the transfer fails with an error of kind `.badRequest`.
    ///     The last byte is sent only after the sequence has ended. If the length is 0, the sequence isn't read.
    ///   - isReplayable: Whether `makeChunks` may be called again to resend the body, as a 307 redirect or a lost
    ///     connection requires. `false` by default; the request then fails with an error that says so.
    ///   - makeChunks: Returns the sequence. Called each time the body is sent; it must not block.
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

    /// The total size in bytes, or `nil` if it isn't known without reading the body.
    public var length: Int64? {
        switch content {
        case .data(let data): Int64(data.count)
        case .file: nil
        case .stream(let length, _, _): length
        }
    }

    /// Whether the body can be read more than once.
    public var isReplayable: Bool {
        if case .stream(_, let isReplayable, _) = content { return isReplayable }
        return true
    }

    /// The bytes, or `nil` if they aren't already in memory.
    public var data: Data? {
        if case .data(let data) = content { return data }
        return nil
    }

    /// Reads the whole body into memory.
    ///
    /// - Parameter limit: The maximum size in bytes. 256 MiB by default.
    /// - Throws: `NetworkError` of kind `.tooLarge` if the body exceeds `limit`, or the error that ended the body
    ///   early.
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
    /// Returns an error for a request body that doesn't have its declared length.
    ///
    /// - Parameter count: The total size in bytes, or the size so far if it is already too large.
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
    /// An iterator over the chunks of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        package let reader: Reader

        /// Returns the next chunk, which is never empty, or `nil` at the end.
        public mutating func next() async throws -> Data? {
            while let chunk = try await reader() {
                if !chunk.isEmpty { return chunk }
            }
            return nil
        }
    }

    /// Returns an iterator.
    ///
    /// A streamed body can be read only once unless it is `isReplayable`.
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

/// A box for a sequence's iterator, shared by the calls of a reader.
///
/// `@unchecked Sendable` is sound because a body has one reader, which waits for each chunk before it requests the
/// next. The iterator is never used by two calls at the same time.
private final class ChunkIterator<Chunks: AsyncSequence>: @unchecked Sendable where Chunks.Element == Data {
    private var iterator: Chunks.AsyncIterator

    init(_ chunks: Chunks) {
        iterator = chunks.makeAsyncIterator()
    }

    func next() async throws -> Data? {
        try await iterator.next()
    }
}
