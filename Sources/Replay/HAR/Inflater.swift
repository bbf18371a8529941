import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A decompressor for gzip (RFC 1952), zlib (RFC 1950) or bare deflate streams (RFC 1951), in pieces.
///
/// It detects whether the data is gzip or zlib.
final class Inflater {
    /// The stream, allocated on the heap because zlib stores its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let outputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 1)
    private var input = Data()
    private var isEnded = false
    /// Whether the last piece filled the buffer, so that zlib may have more output even though the input is used up.
    private var mayHaveMore = false

    /// Creates a decompressor.
    ///
    /// - Parameter isBare: whether the data is a deflate stream without a header.
    init(isBare: Bool = false) throws(NetworkError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 is zlib's window size; adding 32 detects gzip and zlib, and a negative number means a bare stream.
        let window: Int32 = isBare ? -15 : 15 + 32
        guard beagle_inflate_init(stream, window) == Z_OK else {
            throw .compression("not enough memory to decompress the data")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        outputBuffer.deallocate()
    }

    /// Returns the next decompressed piece, never empty; `nil` at the end.
    ///
    /// - Parameter source: returns the next compressed piece.
    func next(_ source: () throws(NetworkError) -> Data?) throws(NetworkError) -> Data? {
        while true {
            if input.isEmpty, !mayHaveMore {
                guard let piece = try source() else {
                    guard isEnded else { throw .compression("the compressed data is truncated") }
                    return nil
                }
                input = piece
            }
            let count = try inflateInput()
            if count > 0 { return Data(outputBuffer[..<count]) }
        }
    }

    /// Decompresses input into the buffer.
    private func inflateInput() throws(NetworkError) -> Int {
        // A gzip file may have several members (RFC 1952, 2.2).
        if isEnded, input.first != 0x1F || inflateReset(stream) != Z_OK {
            throw .compression("there are more bytes after the end of the compressed data")
        }
        stream.pointee.next_out = outputBuffer.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(outputBuffer.count)
        let (code, left) = input.withUnsafeBytes { bytes in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            return (inflate(stream, Z_NO_FLUSH), Int(stream.pointee.avail_in))
        }
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
            throw .compression("the compressed data is damaged")
        }
        isEnded = code == Z_STREAM_END
        mayHaveMore = !isEnded && stream.pointee.avail_out == 0
        input = input.suffix(left)
        return outputBuffer.count - Int(stream.pointee.avail_out)
    }
}

extension NetworkError {
    static func compression(_ message: String) -> NetworkError {
        NetworkError(.encoding, during: .file, message)
    }
}
