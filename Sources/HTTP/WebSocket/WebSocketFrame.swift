/// The type of a frame (RFC 6455, 5.2).
enum WebSocketOpcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
}

/// An encoder for frames.
package enum WebSocketFrame {
    /// The maximum size of a frame's header, in bytes.
    static let headerSize = 14

    /// Returns an unmasked frame, as servers send it (RFC 6455, 5.1).
    package static func unmasked(_ opcode: UInt8, _ payload: Data) -> Data {
        var header = [0x80 | opcode]
        header.append(length: payload.count, mask: 0)
        return Data(header) + payload
    }

    /// Appends a masked frame, as clients send it (RFC 6455, 5.3).
    ///
    /// - Parameter mask: A new, unpredictable mask for each frame.
    static func append(
        _ opcode: WebSocketOpcode,
        isFinal: Bool = true,
        _ payload: UnsafeRawBufferPointer,
        mask: UInt32,
        to bytes: inout [UInt8]
    ) {
        bytes.append((isFinal ? 0x80 : 0) | opcode.rawValue)
        bytes.append(length: payload.count, mask: 0x80)
        bytes.append(bigEndian: mask)
        let start = bytes.count
        bytes.append(contentsOf: payload)
        bytes.withUnsafeMutableBytes { flip(UnsafeMutableRawBufferPointer(rebasing: $0[start...]), mask.bigEndian) }
    }

    /// Applies the mask to the bytes, eight at a time.
    ///
    /// - Parameter mask: The mask in memory order.
    private static func flip(_ bytes: UnsafeMutableRawBufferPointer, _ mask: UInt32) {
        let wide = UInt64(mask) << 32 | UInt64(mask)
        let words = bytes.count & ~7
        for offset in stride(from: 0, to: words, by: 8) {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            bytes.storeBytes(of: word ^ wide, toByteOffset: offset, as: UInt64.self)
        }
        withUnsafeBytes(of: wide) { wide in
            for offset in words..<bytes.count { bytes[offset] ^= wide[offset & 7] }
        }
    }
}

extension [UInt8] {
    /// Appends a payload's length, with the bit that says whether the payload is masked.
    fileprivate mutating func append(length: Int, mask: UInt8) {
        switch length {
        case 0...125:
            append(mask | UInt8(length))
        case 126...0xFFFF:
            append(mask | 126)
            append(bigEndian: UInt16(length))
        default:
            append(mask | 127)
            append(bigEndian: UInt64(length))
        }
    }

    fileprivate mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
