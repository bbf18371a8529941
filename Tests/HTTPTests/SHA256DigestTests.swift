import BeagleNetHTTP
import Testing

struct SHA256DigestTests {
    private static let hashMatchesTheTestVectorsArguments: [(Data, String)] = [
        (Data(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (Data("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Data("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (Data(repeating: 97, count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (Data(repeating: 97, count: 56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (Data(repeating: 97, count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (Data(repeating: 97, count: 100_000), "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee"),
    ]

    /// The messages of FIPS 180-4's examples, and lengths around those at which the padding needs another block.
    @Test(arguments: Self.hashMatchesTheTestVectorsArguments)
    func hashMatchesTheTestVectors(_ message: Data, _ hash: String) throws {
        let digest = try SHA256Digest.hex(of: message)
        #expect(digest == hash)
    }
}
