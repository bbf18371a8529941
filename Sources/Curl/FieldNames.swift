import BeagleNetHTTP

/// Names of response fields met before. Servers send the same few over and over, and making one checks, copies and
/// lowers its letters.
struct FieldNames {
    /// A name, and whether the transport itself reads the field.
    struct Entry {
        let name: HTTPField.Name
        let role: Role

        fileprivate init(_ name: HTTPField.Name) {
            self.name = name
            role =
                switch name {
                case .contentLength: .contentLength
                case .contentEncoding: .contentEncoding
                default: .other
                }
        }
    }

    enum Role {
        case contentLength, contentEncoding, other
    }

    private static let count = 64
    private var entries: [Entry?] = Array(repeating: nil, count: count)

    /// The field name of these bytes, in the spelling received; nil where they are none.
    mutating func entry(_ bytes: UnsafeBufferPointer<UInt8>) -> Entry? {
        // FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/). Names that share a place push each other out.
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        let place = Int(hash % UInt32(Self.count))
        if let entry = entries[place], entry.name.rawName.utf8.elementsEqual(bytes) { return entry }
        guard let name = HTTPField.Name(String(decoding: bytes, as: UTF8.self)) else { return nil }
        let entry = Entry(name)
        entries[place] = entry
        return entry
    }
}
