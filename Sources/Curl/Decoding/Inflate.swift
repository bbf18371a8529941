import BeagleNetHTTP
import CBeagleNetCurl

/// A decoder for gzip (RFC 1952) and deflate (RFC 1950, and the raw RFC 1951 that some servers send) that uses zlib.
final class Inflate: DecodingLayer {
    enum Format {
        case gzip, deflate
    }

    private let format: Format
    /// The zlib state, owned by this object. zlib stores its address, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private(set) var isBegun = false
    private(set) var isEnded = false

    init(_ format: Format) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isBegun { inflateEnd(stream) }
        stream.deallocate()
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into room: UnsafeMutableRawBufferPointer
    ) throws(NetworkError) -> Int {
        if !isBegun {
            guard let first = input.first else { return 0 }
            try begin(firstByte: first)
        }
        while true {
            if isEnded {
                if input.isEmpty { return 0 }
                try beginNextMember(input)
            }
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(room.count)
            let code = inflate(stream, Z_NO_FLUSH)
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                throw .encoding("the encoded body is damaged")
            }
            isEnded = code == Z_STREAM_END
            input.keepLast(Int(stream.pointee.avail_in))
            let count = room.count - Int(stream.pointee.avail_out)
            if count > 0 || input.isEmpty { return count }
        }
    }

    private func begin(firstByte: UInt8) throws(NetworkError) {
        // 15 is zlib's window size. +16 selects gzip. A negative value selects raw deflate, which has no zlib header;
        // the first byte of a header ends in 8.
        let isBare = format == .deflate && firstByte & 0x0F != 8
        let windowBits: Int32 = format == .gzip ? 15 + 16 : isBare ? -15 : 15
        guard beagle_inflate_init(stream, windowBits) == Z_OK else {
            throw .encoding("not enough memory to decode the body")
        }
        isBegun = true
    }

    /// Starts the next member of a gzip body, which may have several (RFC 1952, 2.2); any other trailing data is an
    /// error.
    private func beginNextMember(_ input: UnsafeRawBufferPointer) throws(NetworkError) {
        guard format == .gzip, input.first == 0x1F else { throw .trailingData }
        guard inflateReset(stream) == Z_OK else { throw .encoding("the encoded body is damaged") }
        isEnded = false
    }
}
