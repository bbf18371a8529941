import Foundation

@testable import BeagleNetReplay

/// The pixels of a PNG in RGB or RGBA, with 8 bits for each channel and without interlacing (ISO/IEC 15948).
struct PNGPixels {
    let width: Int
    let height: Int
    private let channels: Int
    /// The rows without their filter bytes.
    private var bytes: [UInt8] = []

    init?(_ file: Data) throws {
        let file = [UInt8](file)
        func number(at index: Int) -> Int { file[index..<index + 4].reduce(0) { $0 << 8 | Int($1) } }
        guard file.count > 33, file[24] == 8, file[25] == 2 || file[25] == 6, file[28] == 0 else { return nil }
        (width, height, channels) = (number(at: 16), number(at: 20), file[25] == 2 ? 3 : 4)
        var (compressed, place) = (Data(), 8)
        while place + 12 <= file.count {
            let content = place + 8..<place + 8 + number(at: place)
            if file[place + 4..<place + 8].elementsEqual("IDAT".utf8) { compressed += file[content] }
            place = content.upperBound + 4
        }
        let (inflater, rowBytes) = (try Inflater(), width * channels)
        var rows: [UInt8] = []
        while let piece = try inflater.next({ compressed.isEmpty ? nil : take(&compressed) }) { rows += piece }
        guard rows.count == height * (1 + rowBytes) else { return nil }
        bytes.reserveCapacity(height * rowBytes)
        for row in 0..<height {
            let filter = rows[row * (1 + rowBytes)]
            for column in 0..<rowBytes {
                let (value, index) = (rows[row * (1 + rowBytes) + 1 + column], bytes.count)
                let left = column < channels ? 0 : Int(bytes[index - channels])
                let above = row == 0 ? 0 : Int(bytes[index - rowBytes])
                let corner = column < channels || row == 0 ? 0 : Int(bytes[index - rowBytes - channels])
                bytes.append(value &+ UInt8(Self.prediction(filter, left, above, corner)))
            }
        }
    }

    /// The prediction of a filter (9.2), from the bytes to the left, above, and both.
    private static func prediction(_ filter: UInt8, _ left: Int, _ above: Int, _ corner: Int) -> Int {
        switch filter {
        case 1: return left
        case 2: return above
        case 3: return (left + above) / 2
        case 4:
            let estimate = left + above - corner
            return [left, above, corner].min { abs(estimate - $0) < abs(estimate - $1) } ?? 0
        default: return 0
        }
    }

    /// The color of a pixel as `RRGGBB`.
    subscript(x: Int, y: Int) -> String {
        let start = (y * width + x) * channels
        return bytes[start..<start + 3].map { String(format: "%02X", $0) }.joined()
    }
}

/// Returns all bytes, and leaves none.
private func take(_ data: inout Data) -> Data {
    defer { data = Data() }
    return data
}
