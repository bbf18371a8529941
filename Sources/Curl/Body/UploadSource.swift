import BeagleNetHTTP

/// A source of a request body's bytes for libcurl, which can be rewound if that is allowed and possible.
protocol UploadSource: AnyObject {
    /// The total number of bytes; `nil` if unknown.
    var length: Int64? { get }
    /// Copies the next bytes into `buffer`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> UploadRead
    /// Returns to the first byte. Returns false if that isn't possible.
    func rewind() -> Bool
    /// Ends the source; it is not read afterwards.
    func close()
}

/// The result of a read.
enum UploadRead {
    case bytes(Int), pending, end
}

/// Returns the source for a body.
///
/// - Parameter resume: Notifies the loop that bytes are available after `.pending`; called on any thread.
func makeUploadSource(
    _ body: HTTPBody,
    resourceTracker: ResourceTracker? = nil,
    resume: @escaping @Sendable () -> Void
) throws(NetworkError) -> any UploadSource {
    switch body.content {
    case .data(let data): DataUpload(data)
    case .file(let path): try FileUpload(path: path)
    case .stream(let length, let isReplayable, let open):
        StreamUpload(length: length, isReplayable: isReplayable, open, resourceTracker: resourceTracker, resume: resume)
    }
}
