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
    /// (https://curl.se/libcurl/c/CURLOPT_HTTPHEADER.html).
    ///
    /// - Parameter lines: what goes behind the fields as it is: `Name: value`, or `Name:` to take away a field that
    ///   libcurl adds by itself.
    init(_ fields: HTTPFields, lines: [String]) {
        let count = fields.count + lines.count
        var textSize = 0
        for field in fields { textSize += field.name.rawName.utf8.count + field.value.utf8.count + 3 }
        for line in lines { textSize += line.utf8.count + 1 }
        let nodesSize = count * MemoryLayout<curl_slist>.stride
        let errorSize = Int(CURL_ERROR_SIZE)
        block = .allocate(byteCount: errorSize + nodesSize + textSize, alignment: MemoryLayout<curl_slist>.alignment)
        block.storeBytes(of: 0, as: CChar.self)

        let nodes = (block + errorSize).bindMemory(to: curl_slist.self, capacity: count)
        var text = (block + errorSize + nodesSize).bindMemory(to: CChar.self, capacity: textSize)
        var index = 0
        func end(_ start: UnsafeMutablePointer<CChar>) {
            text.pointee = 0
            text += 1
            let next = index + 1 < count ? nodes + index + 1 : nil
            (nodes + index).initialize(to: curl_slist(data: start, next: next))
            index += 1
        }
        for field in fields {
            let start = text
            let value = field.value
            text = text.write(field.name.rawName).write(value.isEmpty ? ";" : ": ").write(value)
            end(start)
        }
        for line in lines {
            let start = text
            text = text.write(line)
            end(start)
        }
        first = count > 0 ? nodes : nil
    }

    deinit {
        block.deallocate()
    }
}

/// Lines in the form that libcurl reads, kept with what needs them.
final class LineList {
    private let list: FieldList

    init(_ fields: HTTPFields = [:], lines: [String] = []) {
        list = FieldList(fields, lines: lines)
    }

    var first: UnsafeMutablePointer<curl_slist>? { list.first }
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
