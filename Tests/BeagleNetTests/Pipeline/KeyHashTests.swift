import Testing
import TestClients

@testable import BeagleNet

struct KeyHashTests {
    private static let seed: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)

    private static let hashMatchesOpenSSLArguments: [(String, String)] = [
        ("", "E77EBCB22788A5BEFD62DB6ADD303001"),
        ("a", "083C37DE637C4FA8492FD75D37AE8A67"),
        ("01234567", "A16E6FE8803195E1D0249CA8CF3A2DBC"),
        ("0123456789", "85C026A554CD1A8BA290E586CD7907BF"),
        (String(repeating: "x", count: 3_000), "E2D7B086156CD2E01CA1D0D5688435D9"),
    ]

    /// From `openssl mac -macopt hexkey:000102030405060708090a0b0c0d0e0f -macopt size:16 -macopt c-rounds:1 -macopt
    /// d-rounds:3 SIPHASH`.
    @Test(arguments: Self.hashMatchesOpenSSLArguments)
    func hashMatchesOpenSSL(text: String, expected: String) {
        #expect(Self.hash(of: [text]) == expected)
    }

    private static let piecesAreHashedAsOneArguments: [Int] = [
        0, 1, 7, 8, 9, 1_023, 1_024, 1_025, 2_047, 2_048, 2_999, 3_000,
    ]

    @Test(arguments: Self.piecesAreHashedAsOneArguments)
    func piecesAreHashedAsOne(at split: Int) {
        let bytes = (0..<3_000).map { UInt8(32 + $0 % 90) }
        let text = String(decoding: bytes, as: UTF8.self)
        let pieces = [String(text.prefix(split)), String(text.dropFirst(split))]
        #expect(Self.hash(of: pieces) == Self.hash(of: [text]))
    }

    @Test func differentPartsHashDifferently() {
        let lists = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"]]
        let hashes = lists.map { parts in
            let hash = KeyHash.of { hash in
                for part in parts { hash.combine(part) }
            }
            return "\(hash)"
        }
        #expect(Set(hashes).count == lists.count)
    }

    @Test(arguments: 0..<24)
    func numberBeyondTheBufferIsHashedLikeItsBytes(before: Int) {
        let filling = String(repeating: "y", count: 1_008 + before)
        let number = 0x0123_4567_89AB_CDEF
        let one = KeyHash.of { hash in
            Self.append(filling, into: &hash)
            hash.combine(number)
        }
        let other = KeyHash.of { hash in
            Self.append(filling, into: &hash)
            withUnsafeBytes(of: number.littleEndian) { hash.append($0) }
        }
        #expect(one == other)
    }

    private static func hash(of pieces: [String]) -> String {
        let hash = KeyHash.of(seed: seed) { hash in
            for piece in pieces { append(piece, into: &hash) }
        }
        let bytes = [hash.low, hash.high].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    private static func append(_ text: String, into hash: inout KeyHash) {
        Array(text.utf8).withUnsafeBytes { hash.append($0) }
    }
}
