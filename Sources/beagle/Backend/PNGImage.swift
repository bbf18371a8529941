import Foundation

/// A small opaque RGB image, written as a PNG without compression (ISO/IEC 15948).
struct PNGImage {
    let width: Int
    let height: Int
    /// Returns the color of a pixel. Rows are counted from the top, and columns from the left.
    let color: (_ x: Int, _ y: Int) -> (red: UInt8, green: UInt8, blue: UInt8)

    /// The bytes of the PNG file.
    var data: Data {
        var header = Self.bigEndian(UInt32(width)) + Self.bigEndian(UInt32(height))
        // 8 bits per channel, RGB, deflate, standard filters, not interlaced.
        header += [8, 2, 0, 0, 0]
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        file += Self.chunk("IHDR", header)
        file += Self.chunk("IDAT", Self.zlib(rows))
        file += Self.chunk("IEND", Data())
        return file
    }

    /// The rows, each after a filter byte of 0, which means that it is unfiltered.
    private var rows: Data {
        var rows = Data(capacity: height * (1 + 3 * width))
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width {
                let (red, green, blue) = color(x, y)
                rows += [red, green, blue]
            }
        }
        return rows
    }

    private static func chunk(_ type: String, _ content: Data) -> Data {
        let typed = Data(type.utf8) + content
        return bigEndian(UInt32(content.count)) + typed + bigEndian(crc32(typed))
    }

    /// Returns a zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4), each of at most 65,535 bytes.
    private static func zlib(_ bytes: Data) -> Data {
        var stream = Data([0x78, 0x01])
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            stream += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
            stream += block
        } while !rest.isEmpty
        return stream + bigEndian(adler32(bytes))
    }

    private static func adler32(_ bytes: Data) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    private static func crc32(_ bytes: Data) -> UInt32 {
        ~bytes.reduce(UInt32.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
    }

    private static func bigEndian(_ value: UInt32) -> Data {
        withUnsafeBytes(of: value.bigEndian) { Data($0) }
    }
}
