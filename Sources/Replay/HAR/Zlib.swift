import BeagleNetHTTP
import CBeagleNetCurl
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decompresses gzip (RFC 1952) or zlib (RFC 1950), whichever it is, or a bare deflate stream (RFC 1951), in pieces.
final class Inflater {
    /// Owned by this object: zlib keeps its address, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 1)
    private var input = Data()
    private var isEnded = false
    /// Whether the last piece filled the room, so that zlib may have more of the text although the input is used up.
    private var mayHaveMore = false

    /// - Parameter isBare: Whether the stream is one of deflate, without a head.
    init(isBare: Bool = false) throws(NetworkError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 is zlib's window; +32 has it see for itself which of the two formats it is, a negative number means neither.
        let window: Int32 = isBare ? -15 : 15 + 32
        guard beagle_inflate_init(stream, window) == Z_OK else {
            throw .compression("not enough memory to decompress the data")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        room.deallocate()
    }

    /// The next piece of the text, never empty; nil at the end.
    ///
    /// - Parameter source: gives the next piece of what is compressed.
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
            if count > 0 { return Data(room[..<count]) }
        }
    }

    /// Fills the room as far as the input goes.
    private func inflateInput() throws(NetworkError) -> Int {
        // gzip may have several members (RFC 1952, 2.2).
        if isEnded, input.first != 0x1F || inflateReset(stream) != Z_OK {
            throw .compression("there are more bytes after the end of the compressed data")
        }
        stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(room.count)
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
        return room.count - Int(stream.pointee.avail_out)
    }
}

/// Compresses with gzip or zlib, a piece at a time.
package final class Deflater {
    /// Owned by this object: zlib keeps its address, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)

    /// - Parameter isGzip: whether it is gzip, or zlib.
    package init(isGzip: Bool) throws(NetworkError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 is zlib's window; +16 asks for gzip.
        guard beagle_deflate_init(stream, isGzip ? 15 + 16 : 15) == Z_OK else {
            throw .compression("not enough memory to compress the data")
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        room.deallocate()
    }

    /// Compresses the next piece.
    ///
    /// - Parameters:
    ///   - isLast: whether it is the last one.
    ///   - write: takes what comes of it.
    package func write(
        _ bytes: UnsafeRawBufferPointer,
        isLast: Bool = false,
        to write: (UnsafeRawBufferPointer) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(bytes.count)
        repeat {
            stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(room.count)
            guard deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR else {
                throw .compression("the data cannot be compressed")
            }
            try write(UnsafeRawBufferPointer(rebasing: room[..<(room.count - Int(stream.pointee.avail_out))]))
        } while stream.pointee.avail_out == 0
    }
}

extension NetworkError {
    fileprivate static func compression(_ message: String) -> NetworkError {
        NetworkError(.encoding, during: .file, message)
    }
}
