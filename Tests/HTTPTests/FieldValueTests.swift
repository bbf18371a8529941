import BeagleNetHTTP
import Testing

struct FieldValueTests {
    private static let name = HTTPField.Name("x")!

    /// Values with each character at the start, at the end and within, and the empty value.
    @Test func quickCheckMatchesTheFullCheck() {
        let texts = (0...0x180).compactMap(Unicode.Scalar.init).flatMap { scalar in
            ["\(scalar)", "\(scalar)b", "a\(scalar)", "a long value, \(scalar) of which more is looked at"]
        }
        for text in texts + [""] { #expect(HTTPField.isSendable(text) == HTTPField.isValidValue(text), "\(text.utf8)") }
    }

    @Test func bytesOfAFieldAreChecked() {
        for byte in UInt8.min...UInt8.max {
            for bytes in [[byte], [0x61, byte], [byte, 0x61], [0x61, byte, 0x61]] {
                let field = HTTPField(name: Self.name, lenientValue: bytes)
                #expect(field.isSendable == HTTPField.isValidValue(field.value), "\(bytes)")
            }
        }
    }
}
