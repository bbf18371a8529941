import BeagleNetHTTP

/// Names of response fields met before. Servers send the same few over and over, and making one checks, copies and
/// lowers its letters.
struct FieldNames {
    private static let count = 64
    private var names: [HTTPField.Name?] = Array(repeating: nil, count: count)

    /// The field name of these bytes, in the spelling received; nil where they are none.
    mutating func name(_ bytes: UnsafeBufferPointer<UInt8>) -> HTTPField.Name? {
        // FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/). Names that share a place push each other out.
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        let place = Int(hash % UInt32(Self.count))
        if let name = names[place], name.rawName.utf8.elementsEqual(bytes) { return name }
        let name = HTTPField.Name(String(decoding: bytes, as: UTF8.self))
        if let name { names[place] = name }
        return name
    }
}
