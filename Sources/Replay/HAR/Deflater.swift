import BeagleNetHTTP
import CBeagleNetCurl
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A compressor for gzip or zlib that works in pieces.
package final class Deflater {
    /// The stream, allocated on the heap because zlib stores its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let outputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)

    /// Creates a compressor.
    ///
    /// - Parameter isGzip: whether to use gzip instead of zlib.
    package init(isGzip: Bool) throws(NetworkError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 is zlib's window size; adding 16 selects gzip.
        guard beagle_deflate_init(stream, isGzip ? 15 + 16 : 15) == Z_OK else {
            throw .compression("not enough memory to compress the data")
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        outputBuffer.deallocate()
    }

    /// Compresses the next piece.
    ///
    /// - Parameters:
    ///   - isLast: whether this is the last piece.
    ///   - write: receives the compressed bytes.
    package func write(
        _ bytes: UnsafeRawBufferPointer,
        isLast: Bool = false,
        to write: (UnsafeRawBufferPointer) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(bytes.count)
        repeat {
            stream.pointee.next_out = outputBuffer.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(outputBuffer.count)
            guard deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR else {
                throw .compression("the data cannot be compressed")
            }
            try write(
                UnsafeRawBufferPointer(rebasing: outputBuffer[..<(outputBuffer.count - Int(stream.pointee.avail_out))])
            )
        } while stream.pointee.avail_out == 0
    }
}
