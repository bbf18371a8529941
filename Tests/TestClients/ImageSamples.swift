package import Foundation
package import BeagleNet

/// The beginnings of images.
package enum ImageSamples {
    package struct Sample: Sendable, CustomStringConvertible {
        package let name: String
        package let header: ImageHeader
        package let data: Data

        package var description: String { name }

        package init(_ name: String, _ format: ImageHeader.Format, _ width: Int, _ height: Int, _ base64: String) {
            self.name = name
            header = ImageHeader(format: format, width: width, height: height)
            data = Data(base64Encoded: base64)!
        }
    }

    /// Images written by Pillow 13 with libheif and libjxl, up to the last byte of the size.
    package static let written = [
        Sample("PNG", .png, 37, 23, "iVBORw0KGgoAAAANSUhEUgAAACUAAAAX"),
        Sample(
            "JPEG",
            .jpeg,
            37,
            23,
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H\
            ////6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wA\
            ARCAAXACU=
            """
        ),
        Sample(
            "progressive JPEG",
            .jpeg,
            37,
            23,
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H\
            ////6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wg\
            ARCAAXACU=
            """
        ),
        Sample("GIF", .gif, 37, 23, "R0lGODdhJQAXAA=="),
        Sample("lossy WebP", .webp, 37, 23, "UklGRkAAAABXRUJQVlA4IDQAAAAwAwCdASolABcA"),
        Sample("lossless WebP", .webp, 37, 23, "UklGRh4AAABXRUJQVlA4TBEAAAAvJIAFAA=="),
        Sample("extended WebP", .webp, 37, 23, "UklGRmgAAABXRUJQVlA4WAoAAAAIAAAAJAAAFgAA"),
        Sample("BMP", .bmp, 37, 23, "Qk1GCgAAAAAAADYAAAAoAAAAJQAAABcAAAA="),
        Sample(
            "AVIF",
            .avif,
            37,
            23,
            """
            AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAAAAAAA\
            OcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAJwAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcg\
            AAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAAJQAAABc=
            """
        ),
        Sample("JPEG XL", .jpegXL, 37, 23, "/wqwAEgM"),
        Sample("square JPEG XL", .jpegXL, 64, 64, "/wpPBg=="),
        Sample("JPEG XL, 2 to 1", .jpegXL, 16, 8, "/wrBBw=="),
        Sample("JPEG XL, 4 to 3", .jpegXL, 4000, 3000, "/wq6XRs="),
        Sample("JPEG XL, 6 to 5", .jpegXL, 120, 100, "/woYow=="),
    ]

    /// Images whose size is not at the end of the sample.
    package static let scattered = [
        // x265 codes 64 x 64, which another box crops to 37 x 23.
        Sample(
            "HEIC",
            .heic,
            64,
            64,
            """
            AAAAGGZ0eXBoZWljAAAAAG1pZjFoZWljAAABfG1ldGEAAAAAAAAAIWhkbHIAAAAAAAAAAHBpY3QAAAAAAAAAAAAAAAAAAAAAImlsb2MAAAA\
            AREAAAQABAAAAAAGcAAEAAAAAAAAAJgAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGh2YzEAAAAADnBpdG0AAAAAAAEAAAD8aXBycA\
            AAANxpcGNvAAAAdWh2Y0MBA3AAAACQAAAAAAAe8AD8/fj4AAAPA2AAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAYQABAClCAQEDcAAAA\
            wCQAAADAAADAB6gIIEFluqumubgIaDAgAAADIAAAAMAhGIAAQAGRAHBc8GJAAAAE2NvbHJuY2x4AAEADQAGgAAAABRpc3BlAAAAAAAAAEAA\
            AABA
            """
        ),
        Sample(
            "icon with a PNG",
            .ico,
            16,
            16,
            "AAABAAEAEBAAAAAAIABJAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAQAAAAEA=="
        ),
        Sample("icon with a bitmap", .ico, 16, 16, "AAABAAEAEBAAAAAAGABIAwAAFgAAACgAAAAQAAAAIAAAAA=="),
        Sample(
            "icon of two",
            .ico,
            256,
            256,
            "AAABAAIAEBAAAAAAIABJAAAAJgAAAAAAAAAAACAADgEAAG8AAACJUE5HDQoaCgAAAA1JSERSAAAAEAAAABA="
        ),
        Sample(
            "TIFF",
            .tiff,
            5,
            7,
            """
            SUkqAAgAAAAJAAABBAABAAAABQAAAAEBBAABAAAABwAAAAIBAwABAAAACAAAAAMBAwABAAAAAQAAAAYBAwABAAAAAQAAABEBBAABAAAAegA\
            AABYBBAABAAAABwAAABcBBAABAAAAIwAAABwBAwABAAAAAQAAAAAAAAA=
            """
        ),
        Sample(
            "boxed JPEG XL",
            .jpegXL,
            37,
            23,
            "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAASanhscAAAAAD/CrAASAwAAAA="
        ),
    ]

    /// A PNG of 70 bytes that declares these dimensions, at most 2,147,483,647 each (PNG 3, 11.2.1).
    package static func png(_ width: Int, _ height: Int) -> Data {
        var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data("IHDR".utf8)
        for side in [width, height] { data += withUnsafeBytes(of: UInt32(side).bigEndian) { Data($0) } }
        data += Data([8, 6, 0, 0, 0, 0, 0, 0, 0])
        return data + Data(repeating: 0, count: 70 - data.count)
    }

    /// A JPEG of these segments and a frame.
    package static func jpeg(_ segments: Data...) -> Data {
        let frame = Data([0xFF, 0xC0, 0, 17, 8, 0, 23, 0, 37])
        return segments.reduce(Data([0xFF, 0xD8])) { $0 + $1 } + frame
    }

    /// A box of ISO/IEC 14496-12.
    package static func box(_ type: String, _ content: Data, size: UInt32? = nil) -> Data {
        let size = size ?? UInt32(content.count + 8)
        return withUnsafeBytes(of: size.bigEndian) { Data($0) } + Data(type.utf8) + content
    }

    /// An AVIF whose properties are these boxes.
    package static func avif(_ properties: Data, size: UInt32? = nil) -> Data {
        let meta = Data(count: 4) + box("iprp", box("ipco", properties, size: size))
        return box("ftyp", Data("avif\0\0\0\0mif1avif".utf8)) + box("meta", meta)
    }

    /// A HEIF with one item of this type, whose bytes lie in the file or, if `isInside`, in its `meta` box.
    package static func item(_ type: String, _ content: Data, isInside: Bool, claims properties: Data) -> Data {
        let info = Data([2, 0, 0, 0, 0, 1, 0, 0]) + Data(type.utf8) + Data([0])
        let items = box("iinf", Data([0, 0, 0, 0, 0, 1]) + box("infe", info))
        // Version 1: 4 bytes an offset, 4 a length; one item of two extents.
        func place(_ offset: Int) -> Data {
            let extents = [(offset, 3), (offset + 3, content.count - 3)]
            let numbers = extents.flatMap { [$0.0, $0.1] }.map { UInt32($0).bigEndian }
            let head = Data([1, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, isInside ? 1 : 0, 0, 0, 0, 2])
            return box("iloc", numbers.reduce(head) { $0 + withUnsafeBytes(of: $1) { Data($0) } })
        }
        let inside = isInside ? box("idat", content) : Data()
        func file(_ offset: Int) -> Data {
            let boxes = items + place(offset) + inside + box("iprp", box("ipco", properties))
            return box("ftyp", Data("heic\0\0\0\0mif1heic".utf8)) + box("meta", Data(count: 4) + boxes)
        }
        if isInside { return file(0) }
        return file(file(0).count + 8) + box("mdat", content)
    }

    package static func extent(_ width: UInt8, _ height: UInt8) -> Data {
        box("ispe", Data([0, 0, 0, 0, 0, 0, 0, width, 0, 0, 0, height]))
    }
}
