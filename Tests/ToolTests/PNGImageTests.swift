import Foundation
import Testing

@testable import beagle

struct PNGImageTests {
    /// Red, green; blue, and (1, 2, 3). The expected file was made with Python's zlib.
    @Test func imageOfFourPixelsMatchesAnotherEncoder() {
        let image = PNGImage(width: 2, height: 2) { x, y in
            [[(255, 0, 0), (0, 255, 0)], [(0, 0, 255), (1, 2, 3)]][y][x]
        }
        let expected = """
            iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAGUlEQVR4AQEOAPH/AP8AAAD/AAAAAP8BAgMZ/gMEjEGukwAAAABJRU5Erk\
            Jggg==
            """
        #expect(image.data.base64EncodedString() == expected)
    }

    @Test func largeImageHasBlocksOfAtMost65535Bytes() {
        let rows = 300 * (1 + 300 * 3)
        let image = PNGImage(width: 300, height: 300) { _, _ in (0, 0, 0) }
        let blocks = (rows + 65_534) / 65_535
        #expect(image.data.count == 8 + 25 + 12 + 2 + 5 * blocks + rows + 4 + 12)
    }
}
