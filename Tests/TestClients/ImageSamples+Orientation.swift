package import Foundation

package import BeagleNet

/// Images of 37 x 23 with an orientation.
extension ImageSamples {
    package enum OrientedFormat: CaseIterable {
        case jpeg, png, webp, tiff, bigTIFF

        package var format: ImageHeader.Format {
            switch self {
            case .jpeg: .jpeg
            case .png: .png
            case .webp: .webp
            case .tiff, .bigTIFF: .tiff
            }
        }
    }

    package enum ByteOrder: CaseIterable {
        case little, big

        package func bytes(_ number: Int, _ count: Int) -> Data {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            return Data(self == .little ? bytes : bytes.reversed())
        }
    }

    package static func oriented(_ format: OrientedFormat, _ orientation: Int, _ order: ByteOrder) -> Data {
        let entry = field(274, orientation, order)
        return switch format {
        case .jpeg: jpeg(exifSegment(tiff(entry, order: order)))
        case .png: png(chunks: chunk("eXIf", tiff(entry, order: order)) + chunk("IDAT", Data(count: 9)))
        case .webp: webp(riffChunk("VP8 ", Data(count: 9)) + riffChunk("EXIF", tiff(entry, order: order)))
        case .tiff: tiff(field(256, 37, order), field(257, 23, order), entry, order: order)
        case .bigTIFF: bigTIFF(orientation, order)
        }
    }

    // MARK: - TIFF and EXIF

    /// A field of a directory, which is a single 16-bit integer by default.
    package static func field(_ tag: Int, _ value: Int, _ order: ByteOrder, type: Int = 3, count: Int = 1) -> Data {
        let value = type == 3 ? order.bytes(value, 2) + Data(count: 2) : order.bytes(value, 4)
        return order.bytes(tag, 2) + order.bytes(type, 2) + order.bytes(count, 4) + value
    }

    package static func tiff(_ fields: Data..., order: ByteOrder = .big) -> Data {
        let head = Data((order == .little ? "II" : "MM").utf8) + order.bytes(42, 2) + order.bytes(8, 4)
        return fields.reduce(head + order.bytes(fields.count, 2)) { $0 + $1 } + Data(count: 4)
    }

    private static func bigTIFF(_ orientation: Int, _ order: ByteOrder) -> Data {
        let head = Data((order == .little ? "II" : "MM").utf8) + order.bytes(43, 2) + order.bytes(8, 2) + Data(count: 2)
        return [(256, 37), (257, 23), (274, orientation)].reduce(head + order.bytes(16, 8) + order.bytes(3, 8)) {
            let field = order.bytes($1.0, 2) + order.bytes(3, 2) + order.bytes(1, 8)
            return $0 + field + order.bytes($1.1, 2) + Data(count: 6)
        }
    }

    package static func exifSegment(_ exif: Data, _ marker: UInt8 = 0xE1) -> Data {
        Data([0xFF, marker]) + ByteOrder.big.bytes(exif.count + 8, 2) + Data("Exif\0\0".utf8) + exif
    }

    // MARK: - Chunks

    package static func chunk(_ type: String, _ content: Data) -> Data {
        ByteOrder.big.bytes(content.count, 4) + Data(type.utf8) + content + Data(count: 4)
    }

    /// A PNG with these chunks after its header.
    package static func png(chunks: Data) -> Data { png(37, 23).prefix(33) + chunks }

    package static func riffChunk(_ type: String, _ content: Data) -> Data {
        Data(type.utf8) + ByteOrder.little.bytes(content.count, 4) + content + Data(count: content.count % 2)
    }

    /// A WebP in the extended format with these chunks.
    package static func webp(_ chunks: Data) -> Data {
        let content = Data("WEBP".utf8) + riffChunk("VP8X", Data([8, 0, 0, 0, 36, 0, 0, 22, 0, 0])) + chunks
        return Data("RIFF".utf8) + ByteOrder.little.bytes(content.count, 4) + content
    }

    // MARK: - Boxes

    package static func rotation(_ turns: UInt8) -> Data { box("irot", Data([turns])) }

    package static func mirroring(_ axis: UInt8) -> Data { box("imir", Data([axis])) }

    /// A HEIF with these properties after its size.
    ///
    /// - Parameters:
    ///   - associations: The `ipma` box.
    ///   - primary: The `pitm` box.
    package static func heif(_ brand: String, _ properties: Data, _ associations: Data, primary: Data = primary(1))
        -> Data
    {
        let properties = box("iprp", box("ipco", extent(37, 23) + properties) + associations)
        let brands = box("ftyp", Data("\(brand)\0\0\0\0mif1\(brand)".utf8))
        return brands + box("meta", Data(count: 4) + primary + properties)
    }

    package static func primary(_ item: Int) -> Data { box("pitm", Data(count: 4) + ByteOrder.big.bytes(item, 2)) }

    /// The `ipma` box, which gives items their properties. The first property has the number 1.
    package static func associations(_ items: (id: Int, properties: [Int])..., version: UInt8 = 0, isLong: Bool = false)
        -> Data
    {
        let head = Data([version, 0, 0, isLong ? 1 : 0]) + ByteOrder.big.bytes(items.count, 4)
        let entries = items.map { item in
            let numbers = item.properties.map { ByteOrder.big.bytes($0 | (isLong ? 0x8000 : 0x80), isLong ? 2 : 1) }
            return ByteOrder.big.bytes(item.id, version == 0 ? 2 : 4) + Data([UInt8(numbers.count)]) + numbers.joined()
        }
        return box("ipma", head + entries.joined())
    }
}
