import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The contents of a `data:` URL (RFC 2397).
struct DataURL {
    /// The media type; `text/plain` if the URL names none.
    let type: String
    let data: Data

    /// Whether the scheme of a URL is `data`.
    static func isOne(_ text: String) -> Bool { text.prefix(5).lowercased() == "data:" }

    /// Reads a URL whose scheme is `data`.
    ///
    /// - Throws: `NetworkError` of kind `.badURL` if the URL is malformed.
    init(_ text: String) throws(NetworkError) {
        let rest = text.dropFirst(5)
        guard let comma = rest.firstIndex(of: ",") else { throw .badDataURL("has no comma") }
        var type = rest[..<comma]
        // A fragment isn't part of the data.
        let content = rest[rest.index(after: comma)...].prefix { $0 != "#" }
        guard let bytes = Self.decodePercent(content.utf8) else { throw .badDataURL("has a malformed '%'") }
        if type.lowercased().hasSuffix(";base64") {
            type = type.dropLast(7)
            guard let data = Self.decodeBase64(bytes) else { throw .badDataURL("has malformed Base64") }
            self.data = data
        } else {
            data = Data(bytes)
        }
        let name = type.prefix { $0 != ";" }
        self.type = name.isEmpty ? "text/plain" : String(name)
    }

    private static func decodePercent(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Self.hexDigit), let low = rest.next().flatMap(Self.hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }

    /// Decodes Base64 of both alphabets, with white space, and without padding, as browsers do.
    private static func decodeBase64(_ bytes: [UInt8]) -> Data? {
        var text = bytes.filter { ![0x20, 0x09, 0x0A, 0x0C, 0x0D].contains($0) }
        for index in text.indices {
            if text[index] == UInt8(ascii: "-") { text[index] = UInt8(ascii: "+") }
            if text[index] == UInt8(ascii: "_") { text[index] = UInt8(ascii: "/") }
        }
        if !text.contains(UInt8(ascii: "=")) {
            text += Array(repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
        }
        return Data(base64Encoded: Data(text))
    }
}

extension NetworkError {
    fileprivate static func badDataURL(_ problem: String) -> NetworkError {
        NetworkError(.badURL, during: .build, "the data: URL \(problem)")
    }
}
