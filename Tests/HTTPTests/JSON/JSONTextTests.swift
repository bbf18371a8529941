import Testing

@testable import BeagleNetHTTP

struct JSONTextTests {
    private static let ends = Set<UInt8>(0..<0x20).union([UInt8(ascii: "\""), UInt8(ascii: "\\")])

    /// Eight bytes are checked together: puts each byte at each position of two such words and some more bytes.
    @Test func plainTextEndsAtCharactersThatNeedEscaping() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<19 {
                for beside in [UInt8(ascii: "a"), 0x20, 0x80, 0xFF, 0x23, 0x5D] {
                    var text = [UInt8](repeating: beside, count: 19)
                    text[place] = byte
                    let end = text.withUnsafeBufferPointer { JSONText.endOfPlain($0, from: 0) }
                    #expect(end == (Self.ends.contains(byte) ? place : 19), "\(byte) at \(place) beside \(beside)")
                }
            }
        }
    }

    @Test(arguments: [false, true]) func onlyRequiredCharactersAreEscaped(slashes: Bool) {
        let names: [UInt32: String] = [0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r", 0x22: "\"", 0x5C: "\\"]
        for value in 0...0xFF as ClosedRange<UInt32> {
            let character = Character(Unicode.Scalar(value) ?? " ")
            let digits = String(value, radix: 16)
            let escape: String? =
                if let name = names[value] {
                    "\\" + name
                } else if value < 0x20 {
                    "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    slashes && character == "/" ? "\\/" : nil
                }
            for around in ["", "a", "plain text"] {
                var bytes: [UInt8] = []
                JSONText.append("\(around)\(character)\(around)", to: &bytes, escapingSlashes: slashes)
                let written = "\"\(around)\(escape ?? String(character))\(around)\""
                #expect(String(decoding: bytes, as: UTF8.self) == written)
            }
        }
    }

    @Test(arguments: 0...19) func plainTextEndsAtTheFirstSpecialCharacter(start: Int) {
        let text = Array(#"plain text "and \ mo"#.utf8)
        let end = text.withUnsafeBufferPointer { JSONText.endOfPlain($0, from: start) }
        #expect(end == text[start...].firstIndex(where: Self.ends.contains) ?? text.count)
    }

    /// Strings longer than the write buffer, with a character that needs escaping at each position.
    @Test(arguments: [false, true]) func longTextIsWrittenCompletely(slashes: Bool) {
        for character in ["\"", "\u{1}", "/", "é", "\u{1F600}"] as [Character] {
            for place in 0..<400 {
                let text = String(repeating: "x", count: place) + String(character) + String(repeating: "y", count: 200)
                let escape: String? =
                    switch character {
                    case "\"": "\\\""
                    case "\u{1}": "\\u0001"
                    case "/": slashes ? "\\/" : nil
                    default: nil
                    }
                var bytes: [UInt8] = []
                JSONText.append(text, to: &bytes, escapingSlashes: slashes)
                let written = escape.map { text.replacing(String(character), with: $0) } ?? text
                #expect(String(decoding: bytes, as: UTF8.self) == "\"\(written)\"", "\(character) at \(place)")
            }
        }
        for character in ["\u{1}", "\""] as [Character] {
            var bytes: [UInt8] = []
            JSONText.append(String(repeating: character, count: 1000), to: &bytes)
            #expect(bytes.count == 2 + 1000 * (character == "\"" ? 2 : 6))
        }
    }

    /// Many characters in varied orders: only the required ones are escaped.
    @Test(arguments: [false, true]) func textWithManyEscapesIsWrittenCompletely(slashes: Bool) {
        let near = "\"\"\\//\u{A2}\u{DC}\u{1F}\u{1F600}".unicodeScalars
        let scalars = (0..<0x80).map { Unicode.Scalar(UInt8($0)) } + near
        for count in 0..<300 {
            var text = ""
            for place in 0..<count {
                text.unicodeScalars.append(scalars[(count * 31 + place * place * 7 + place) % scalars.count])
            }
            let written = text.unicodeScalars.map { scalar in
                switch scalar {
                case "\"", "\\": "\\\(scalar)"
                case "/" where slashes: "\\/"
                case "\n": "\\n"
                case "\r": "\\r"
                case "\t": "\\t"
                case "\u{8}": "\\b"
                case "\u{C}": "\\f"
                case "\0"..<" ": "\\u00" + (scalar.value < 16 ? "0" : "1") + String(scalar.value % 16, radix: 16)
                default: String(scalar)
                }
            }
            var bytes: [UInt8] = []
            JSONText.append(text, to: &bytes, escapingSlashes: slashes)
            #expect(String(decoding: bytes, as: UTF8.self) == "\"\(written.joined())\"")
        }
    }
}
