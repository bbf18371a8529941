import BeagleNetHTTP
import CBeagleNetCurl

/// Compresses with zlib, to have something to decode.
enum Deflated {
    /// RFC 1952.
    static func gzip(_ data: Data) throws -> Data { try compress(data, windowBits: 15 + 16) }

    /// RFC 1950, which HTTP calls `deflate`.
    static func zlib(_ data: Data) throws -> Data { try compress(data, windowBits: 15) }

    /// RFC 1951 without a wrapper, which some servers call `deflate`.
    static func bare(_ data: Data) throws -> Data { try compress(data, windowBits: -15) }

    private static func compress(_ data: Data, windowBits: Int32) throws -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { throw NetworkError(.other, during: .build, "zlib does not begin") }
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
