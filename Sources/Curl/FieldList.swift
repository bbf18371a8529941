import BeagleNetHTTP
import CBeagleNetCurl

/// The header fields of one message as the linked list that libcurl reads, and room for its error text: one block of
/// memory, freed with this object, which has to outlive the handle's use of it.
struct FieldList: ~Copyable {
    private let block: UnsafeMutableRawPointer
    /// The list's first node; nil when there are no fields.
    let first: UnsafeMutablePointer<curl_slist>?
    /// Room for `CURL_ERROR_SIZE` bytes of error text.
    var errorText: UnsafeMutablePointer<CChar> { block.assumingMemoryBound(to: CChar.self) }

    /// Writes `Name: value` for each field, and `Name;` for an empty value: libcurl takes `Name:` for a removal
    /// (https://curl.se/libcurl/c/CURLOPT_HTTPHEADER.html). Each removal takes away a field libcurl adds by itself.
    init(_ fields: HTTPFields, removing removals: [String]) {
        let count = fields.count + removals.count
        var textSize = 0
        for field in fields { textSize += field.name.rawName.utf8.count + field.value.utf8.count + 3 }
        for name in removals { textSize += name.utf8.count + 2 }
        let nodesSize = count * MemoryLayout<curl_slist>.stride
        let errorSize = Int(CURL_ERROR_SIZE)
        block = .allocate(byteCount: errorSize + nodesSize + textSize, alignment: MemoryLayout<curl_slist>.alignment)
        block.storeBytes(of: 0, as: CChar.self)

        let nodes = (block + errorSize).bindMemory(to: curl_slist.self, capacity: count)
        var text = (block + errorSize + nodesSize).bindMemory(to: CChar.self, capacity: textSize)
        var index = 0
        func append(_ name: String, _ value: String?) {
            let start = text
            text = text.write(name)
            switch value {
            case nil: text = text.write(":")
            case "": text = text.write(";")
            case let value?: text = text.write(": ").write(value)
            }
            text.pointee = 0
            text += 1
            let next = index + 1 < count ? nodes + index + 1 : nil
            (nodes + index).initialize(to: curl_slist(data: start, next: next))
            index += 1
        }
        for field in fields { append(field.name.rawName, field.value) }
        for name in removals { append(name, nil) }
        first = count > 0 ? nodes : nil
    }

    deinit {
        block.deallocate()
    }
}

extension UnsafeMutablePointer<CChar> {
    /// Writes the text's bytes here and gives the place behind them. There has to be room.
    fileprivate func write(_ text: String) -> Self {
        var text = text
        return text.withUTF8 { bytes in
            if let base = bytes.baseAddress {
                UnsafeMutableRawPointer(self).copyMemory(from: base, byteCount: bytes.count)
            }
            return self + bytes.count
        }
    }
}
