import Foundation
import Testing
import TestClients

@testable import BeagleNet

/// The orientations of AVIF and HEIC, as Chromium 156 shows AVIF with the same properties, unless noted.
@Suite(.timeLimit(.minutes(5))) struct HEIFOrientationTests {
    private static func orientation(_ image: Data) -> ImageHeader.Orientation? {
        let header = ImageHeader(of: image)
        #expect(header?.width == 37 && header?.height == 23)
        return header?.orientation
    }

    private static let propertiesAreCombinedArguments: [(UInt8, UInt8?, ImageHeader.Orientation)] = [
        (0, nil, .up), (1, nil, .left), (2, nil, .down), (3, nil, .right),
        (0, 0, .downMirrored), (1, 0, .leftMirrored), (2, 0, .upMirrored), (3, 0, .rightMirrored),
        (0, 1, .upMirrored), (1, 1, .rightMirrored), (2, 1, .downMirrored), (3, 1, .leftMirrored),
    ]

    @Test(arguments: Self.propertiesAreCombinedArguments)
    func propertiesAreCombined(turns: UInt8, axis: UInt8?, orientation: ImageHeader.Orientation) {
        let properties = ImageSamples.rotation(turns) + (axis.map { ImageSamples.mirroring($0) } ?? Data())
        let numbers = axis == nil ? [1, 2] : [1, 2, 3]
        for brand in ["avif", "heic"] {
            for (version, isLong) in [(0, false), (0, true), (1, false), (1, true)] as [(UInt8, Bool)] {
                let associations = ImageSamples.associations((1, numbers), version: version, isLong: isLong)
                let image = ImageSamples.heif(brand, properties, associations)
                #expect(Self.orientation(image) == orientation, "\(brand) \(version) \(isLong)")
                for count in image.indices {
                    guard let part = ImageHeader(of: image.prefix(count)) else { continue }
                    #expect((part.width, part.height) == (37, 23))
                }
            }
        }
    }

    /// The order is that of the associations, not that of the boxes. Chromium always turns before it mirrors.
    @Test func propertiesAreAppliedInTheOrderOfTheirAssociations() {
        let properties = ImageSamples.rotation(1) + ImageSamples.mirroring(1)
        func orientation(_ numbers: [Int]) -> ImageHeader.Orientation? {
            Self.orientation(ImageSamples.heif("avif", properties, ImageSamples.associations((1, numbers))))
        }
        #expect(orientation([1, 2, 3]) == .rightMirrored)
        #expect(orientation([1, 3, 2]) == .leftMirrored)
        #expect(orientation([3]) == .upMirrored)
        #expect(orientation([2, 2]) == .down)
        #expect(orientation(Array(repeating: 2, count: 255)) == .right)
        #expect(orientation([0, 4, 127, 2]) == .left)
        #expect(orientation([]) == .up)
    }

    @Test func onlyThePrimaryItemCounts() {
        let properties = ImageSamples.rotation(1) + ImageSamples.rotation(2)
        let associations = ImageSamples.associations((1, [1, 2]), (2, [1, 3]), (3, [1]), (1, [3]))
        func orientation(_ primary: Data) -> ImageHeader.Orientation? {
            Self.orientation(ImageSamples.heif("heic", properties, associations, primary: primary))
        }
        #expect(orientation(ImageSamples.primary(1)) == .left)
        #expect(orientation(ImageSamples.primary(2)) == .down)
        #expect(orientation(ImageSamples.primary(3)) == .up)
        #expect(orientation(ImageSamples.primary(4)) == .up)
        #expect(orientation(ImageSamples.box("pitm", Data([1, 0, 0, 0, 0, 0, 0, 2]))) == .down)
        // A box that is cut off, or missing.
        #expect(orientation(ImageSamples.box("pitm", Data(count: 3))) == .up)
        #expect(orientation(Data()) == .up)
    }

    @Test func longNumbersReachAllProperties() {
        let properties = Data((0..<500).flatMap { _ in ImageSamples.box("free", Data()) }) + ImageSamples.rotation(3)
        let associations = ImageSamples.associations((70_000, [502]), version: 1, isLong: true)
        let primary = ImageSamples.box("pitm", Data([1, 0, 0, 0]) + ImageSamples.ByteOrder.big.bytes(70_000, 4))
        #expect(Self.orientation(ImageSamples.heif("heic", properties, associations, primary: primary)) == .right)
    }

    @Test(
        arguments: [
            Data(), ImageSamples.box("ipma", Data()), ImageSamples.box("ipma", Data([0, 0, 0, 0])),
            // More items than there is data for; an item without its number of properties; with too few of them.
            ImageSamples.box("ipma", Data([0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF])),
            ImageSamples.box("ipma", Data([0, 0, 0, 0, 0, 0, 0, 1, 0, 1])),
            ImageSamples.box("ipma", Data([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0xFF])),
            ImageSamples.box("ipma", Data([0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0xFF, 0x80])),
        ]
    ) func incompleteAssociationsAreIgnored(associations: Data) {
        let rotation = ImageSamples.rotation(1)
        #expect(Self.orientation(ImageSamples.heif("avif", rotation, associations)) == .up)
        // Bytes behind the box don't belong to it.
        #expect(Self.orientation(ImageSamples.heif("avif", rotation, associations) + Data([2, 2, 2, 2])) == .up)
    }

    @Test func incompletePropertiesAreIgnored() {
        let associations = ImageSamples.associations((1, [2]))
        for type in ["irot", "imir", "clap"] {
            let properties = ImageSamples.box(type, Data())
            #expect(Self.orientation(ImageSamples.heif("avif", properties, associations)) == .up)
        }
        // Reserved bits.
        #expect(Self.orientation(ImageSamples.heif("avif", ImageSamples.rotation(0xFD), associations)) == .left)
    }

    /// A box of 8 bytes each, and items without properties.
    @Test func manyBoxesAndItemsAreReadOnce() {
        let properties = Data((0..<100_000).flatMap { _ in ImageSamples.rotation(1) })
        let items = Data([0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]) + Data(count: 900_000) + Data([0, 1, 1, 2])
        let image = ImageSamples.heif("heic", properties, ImageSamples.box("ipma", items))
        #expect(Self.orientation(image) == .left)
    }
}
