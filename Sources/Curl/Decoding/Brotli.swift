import BeagleNetHTTP

/// A brotli decoder (RFC 7932) that uses the system's libbrotlidec if it is installed.
final class Brotli: DecodingLayer {
    /// The functions of https://github.com/google/brotli/blob/v1.0.9/c/include/brotli/decode.h that we call.
    struct Library: Sendable {
        typealias Bytes = UnsafePointer<UInt8>
        typealias Room = UnsafeMutablePointer<UInt8>
        typealias Create =
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
            ) -> OpaquePointer?
        typealias Decompress =
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Bytes?>?, UnsafeMutablePointer<Int>?,
                UnsafeMutablePointer<Room?>?, UnsafeMutablePointer<Int>?
            ) -> Int32
        typealias Destroy = @convention(c) (OpaquePointer?) -> Void

        let create: Create
        let decompress: Decompress
        let destroy: Destroy
    }

    static let library = SharedLibrary.functions(of: "libbrotlidec.so.1", "libbrotlidec.1.dylib") { file in
        Library(
            create: try file.function("BrotliDecoderCreateInstance"),
            decompress: try file.function("BrotliDecoderDecompressStream"),
            destroy: try file.function("BrotliDecoderDestroyInstance")
        )
    }

    /// The result codes of `decompress` that we use.
    private enum Code {
        static let error: Int32 = 0
        static let success: Int32 = 1
    }

    private let library: Library
    private let decoder: OpaquePointer
    private(set) var isBegun = false
    private(set) var isEnded = false

    /// Creates a decoder, or returns `nil` if the library is not installed.
    init?() throws(NetworkError) {
        guard let library = Self.library else { return nil }
        guard let decoder = library.create(nil, nil, nil) else {
            throw .encoding("not enough memory to decode the body")
        }
        self.library = library
        self.decoder = decoder
    }

    deinit {
        library.destroy(decoder)
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into room: UnsafeMutableRawBufferPointer
    ) throws(NetworkError) -> Int {
        if isEnded && !input.isEmpty { throw .trailingData }
        guard !isEnded, isBegun || !input.isEmpty else { return 0 }
        isBegun = true
        var bytesLeft = input.count
        var next = input.bindMemory(to: UInt8.self).baseAddress
        var roomLeft = room.count
        var place = room.bindMemory(to: UInt8.self).baseAddress
        let code = library.decompress(decoder, &bytesLeft, &next, &roomLeft, &place, nil)
        guard code != Code.error else { throw .encoding("the encoded body is damaged") }
        isEnded = code == Code.success
        input.keepLast(bytesLeft)
        // Check now: the caller doesn't call again after empty output.
        if isEnded && bytesLeft > 0 && roomLeft == room.count { throw .trailingData }
        return room.count - roomLeft
    }
}
