import BeagleNetHTTP
import Foundation
import Testing

struct AESGCMTests {
    private let key = Data(0..<32)
    private let line = Data("line".utf8)

    /// Test cases 13 and 14 of the specification of GCM (McGrew and Viega).
    @Test
    func testVectorsAreDecrypted() throws {
        let zeros = Data(repeating: 0, count: 32)
        let nonce = Data(repeating: 0, count: 12)
        let empty: [UInt8] = [
            0x53, 0x0f, 0x8a, 0xfb, 0xc7, 0x45, 0x36, 0xb9, 0xa9, 0x63, 0xb4, 0xf1, 0xc4, 0xcb, 0x73, 0x8b,
        ]
        #expect(try AESGCM.open(nonce + empty, key: zeros, authenticating: Data()) == Data())
        let block: [UInt8] = [
            0xce, 0xa7, 0x40, 0x3d, 0x4d, 0x60, 0x6b, 0x6e, 0x07, 0x4e, 0xc5, 0xd3, 0xba, 0xf3, 0x9d, 0x18,
            0xd0, 0xd1, 0xc8, 0xa7, 0x99, 0x99, 0x6b, 0xf0, 0x26, 0x5b, 0x98, 0xb5, 0xd4, 0x8a, 0xb9, 0x19,
        ]
        #expect(try AESGCM.open(nonce + block, key: zeros, authenticating: Data()) == Data(repeating: 0, count: 16))
    }

    private static let sealedDataIsOpenedArguments: [Int] = [0, 1, 15, 16, 17, 100_000]

    @Test(arguments: Self.sealedDataIsOpenedArguments)
    func sealedDataIsOpened(count: Int) throws {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        let sealed = try AESGCM.seal(data, key: key, authenticating: line)
        #expect(sealed.count == count + 28)
        #expect(try AESGCM.open(sealed, key: key, authenticating: line) == data)
        // A nonce is never reused.
        #expect(try AESGCM.seal(data, key: key, authenticating: line) != sealed)
    }

    @Test func changedDataIsRejected() throws {
        let sealed = try AESGCM.seal(Data("text".utf8), key: key, authenticating: line)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(try AESGCM.open(changed, key: key, authenticating: line) == nil)
            #expect(try AESGCM.open(sealed[..<index], key: key, authenticating: line) == nil)
        }
        #expect(try AESGCM.open(sealed, key: Data(1..<33), authenticating: line) == nil)
        #expect(try AESGCM.open(sealed, key: key, authenticating: Data("Line".utf8)) == nil)
    }
}
