import BeagleNetHTTP
import CBeagleNetCurl

/// Compresses data for decoding tests.
enum Deflated {
    /// Compresses data in the gzip format (RFC 1952).
    static func gzip(_ data: Data) throws -> Data { try compress(data, windowBits: 15 + 16) }

    /// Compresses data in the zlib format (RFC 1950), which HTTP calls `deflate`.
    static func zlib(_ data: Data) throws -> Data { try compress(data, windowBits: 15) }

    /// Compresses data without a wrapper (RFC 1951), which some servers call `deflate`.
    static func bare(_ data: Data) throws -> Data { try compress(data, windowBits: -15) }

    /// Compresses data with brotli (RFC 7932). Returns `nil` if the system has no libbrotlienc.
    static func brotli(_ data: Data) throws -> Data? {
        typealias Compress =
            @convention(c) (
                Int32, Int32, Int32, Int, UnsafePointer<UInt8>?, UnsafeMutablePointer<Int>?,
                UnsafeMutablePointer<UInt8>?
            ) -> Int32
        let compress: Compress? = SharedLibrary.functions(of: "libbrotlienc.so.1", "libbrotlienc.1.dylib") { library in
            try library.function("BrotliEncoderCompress")
        }
        guard let compress else { return nil }
        var output = [UInt8](repeating: 0, count: data.count + 1024)
        var count = output.count
        let isDone = data.withUnsafeBytes { input in
            compress(5, 22, 0, input.count, input.bindMemory(to: UInt8.self).baseAddress, &count, &output)
        }
        guard isDone == 1 else { throw NetworkError(.other, during: .build, "brotli failed to compress") }
        return Data(output[..<count])
    }

    private static func compress(_ data: Data, windowBits: Int32) throws -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { throw NetworkError(.other, during: .build, "zlib failed to initialize") }
        defer { deflateEnd(&stream) }
        var input = Array(data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(data.count))) + 32)
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                deflate(&stream, Z_FINISH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Data(output[..<count])
    }
}
