import BeagleNetHTTP

/// A zstd decoder (RFC 8878) that uses the system's libzstd if it is installed.
final class Zstandard: DecodingLayer {
    /// The memory layout of `ZSTD_inBuffer` and `ZSTD_outBuffer`.
    struct Buffer {
        var bytes: UnsafeMutableRawPointer?
        var size: Int
        var position = 0
    }

    /// The functions of https://facebook.github.io/zstd/zstd_manual.html that we call.
    struct Library: Sendable {
        typealias Create = @convention(c) () -> OpaquePointer?
        typealias SetParameter = @convention(c) (OpaquePointer?, Int32, Int32) -> Int
        typealias Decompress =
            @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int
        typealias IsError = @convention(c) (Int) -> UInt32
        typealias Destroy = @convention(c) (OpaquePointer?) -> Int

        let create: Create
        let setParameter: SetParameter
        let decompress: Decompress
        let isError: IsError
        let destroy: Destroy
    }

    static let library = SharedLibrary.functions(of: "libzstd.so.1", "libzstd.1.dylib") { file in
        Library(
            create: try file.function("ZSTD_createDStream"),
            setParameter: try file.function("ZSTD_DCtx_setParameter"),
            decompress: try file.function("ZSTD_decompressStream"),
            isError: try file.function("ZSTD_isError"),
            destroy: try file.function("ZSTD_freeDStream")
        )
    }

    /// The parameter `ZSTD_d_windowLogMax` and its value, the 8 MiB window that HTTP allows (RFC 9659, 3).
    private static let windowLogMax: (parameter: Int32, value: Int32) = (100, 23)

    private let library: Library
    private let decoder: OpaquePointer
    private(set) var isBegun = false
    private(set) var isEnded = false
    /// Whether output is pending because it didn't fit into `room`.
    private var hasMore = false

    /// Creates a decoder, or returns `nil` if the library is not installed.
    init?() throws(NetworkError) {
        guard let library = Self.library else { return nil }
        guard let decoder = library.create() else { throw .encoding("not enough memory to decode the body") }
        self.library = library
        self.decoder = decoder
        _ = library.setParameter(decoder, Self.windowLogMax.parameter, Self.windowLogMax.value)
    }

    deinit {
        _ = library.destroy(decoder)
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into room: UnsafeMutableRawBufferPointer
    ) throws(NetworkError) -> Int {
        while !input.isEmpty || hasMore {
            isBegun = true
            var source = Buffer(bytes: UnsafeMutableRawPointer(mutating: input.baseAddress), size: input.count)
            var target = Buffer(bytes: room.baseAddress, size: room.count)
            let left = library.decompress(decoder, &target, &source)
            guard library.isError(left) == 0 else { throw .encoding("the encoded body is damaged") }
            input.keepLast(source.size - source.position)
            // Zero marks the end of a frame; another frame may follow (RFC 8878, 3).
            isEnded = left == 0
            hasMore = !isEnded && target.position == target.size
            if target.position > 0 { return target.position }
        }
        return 0
    }
}
