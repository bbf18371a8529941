import BeagleNet
import BeagleNetHTTP
import Foundation

/// A file with an AES-256 key: 32 bytes, or 64 hexadecimal digits with any white space.
enum KeyFile {
    private static let digits = 64

    /// Returns the bytes of the key. If the file holds something else, they are its first bytes, which no cipher accepts
    /// as a key.
    ///
    /// - Throws: `NetworkError` if the file can't be read.
    static func bytes(at path: String) throws(NetworkError) -> Data {
        let data = try reading { () throws(NetworkError) in try OpenFile(reading: path).contents(upTo: 1024) }
        let text = data.filter { !" \t\r\n".utf8.contains($0) }
        guard text.count == digits else { return data }
        let values = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard values.count == digits else { return data }
        return Data(stride(from: 0, to: digits, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}
