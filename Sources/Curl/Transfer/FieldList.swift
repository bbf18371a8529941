import BeagleNetHTTP
import CBeagleNetCurl

/// The header fields of one request as the linked list that libcurl reads, and a buffer for its error text. Both are in
/// one block of memory, which is freed with this object. The object must outlive the handle's use of it.
struct FieldList: ~Copyable {
    private let block: UnsafeMutableRawPointer
    /// The first node of the list; `nil` if there are no fields.
    let first: UnsafeMutablePointer<curl_slist>?
    /// The buffer for error text, of `CURL_ERROR_SIZE` bytes.
    var errorText: UnsafeMutablePointer<CChar> { block.assumingMemoryBound(to: CChar.self) }

    /// Writes `Name: value` for each field, and `Name;` for an empty value, because libcurl treats `Name:` as a removal
    /// (https://curl.se/libcurl/c/CURLOPT_HTTPHEADER.html).
    ///
    /// - Parameter lines: Lines to add verbatim after the fields: `Name: value`, or `Name:` to remove a field that
    ///   libcurl adds by itself.
    init(_ fields: HTTPFields, lines: [String]) {
        let count = fields.count + lines.count
        var writer = LineWriter(count)
        // By index, because a loop over the fields would copy each.
        for index in fields.indices {
            writer.begin()
            writer.write(fields[index].name.rawName)
            // As bytes, which need not be UTF-8.
            fields[index].withUnsafeBytesOfValue { value in
                writer.write(value.isEmpty ? UInt8(ascii: ";") : UInt8(ascii: ":"))
                if !value.isEmpty { writer.write(UInt8(ascii: " ")) }
                writer.write(value)
            }
            writer.write(0)
        }
        for line in lines {
            writer.begin()
            writer.write(line)
            writer.write(0)
        }
        block = writer.memory
        first = count > 0 ? writer.linked() : nil
    }

    deinit {
        block.deallocate()
    }
}

/// A reference-counted list of lines in the form that libcurl reads.
final class LineList {
    private let list: FieldList

    init(_ fields: HTTPFields, lines: [String]) {
        list = FieldList(fields, lines: lines)
    }

    var first: UnsafeMutablePointer<curl_slist>? { list.first }
}

extension FieldList {
    /// A writer of a `FieldList` into one block of memory: first the buffer for error text, then the nodes, then the lines.
    /// The block grows as needed. The caller takes ownership of it.
    private struct LineWriter {
        private(set) var memory: UnsafeMutableRawPointer
        private let count: Int
        private var index = 0
        /// The offset of the end of the lines.
        private var end: Int
        private var size: Int

        init(_ count: Int) {
            self.count = count
            end = Int(CURL_ERROR_SIZE) + count * MemoryLayout<curl_slist>.stride
            size = end + 64 * count
            memory = .allocate(byteCount: size, alignment: MemoryLayout<curl_slist>.alignment)
            memory.storeBytes(of: 0, as: CChar.self)
        }

        private var nodes: UnsafeMutablePointer<curl_slist> {
            (memory + Int(CURL_ERROR_SIZE)).assumingMemoryBound(to: curl_slist.self)
        }

        /// Begins a line. Its node stores the line's offset until the block no longer moves.
        mutating func begin() {
            (nodes + index).initialize(to: curl_slist(data: UnsafeMutablePointer(bitPattern: end), next: nil))
            index += 1
        }

        mutating func write(_ text: String) {
            var text = text
            text.withUTF8 { write($0) }
        }

        mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard let base = bytes.baseAddress else { return }
            makeRoom(for: bytes.count)
            (memory + end).copyMemory(from: base, byteCount: bytes.count)
            end += bytes.count
        }

        mutating func write(_ byte: UInt8) {
            makeRoom(for: 1)
            memory.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
            end += 1
        }

        /// Links the nodes into a list and returns the first.
        func linked() -> UnsafeMutablePointer<curl_slist> {
            let nodes = nodes
            for index in 0..<count {
                let line = memory + Int(bitPattern: nodes[index].data)
                nodes[index].data = line.assumingMemoryBound(to: CChar.self)
                nodes[index].next = index + 1 < count ? nodes + index + 1 : nil
            }
            return nodes
        }

        private mutating func makeRoom(for count: Int) {
            if end + count <= size { return }
            size = 2 * (size + count)
            let larger = UnsafeMutableRawPointer.allocate(
                byteCount: size,
                alignment: MemoryLayout<curl_slist>.alignment
            )
            larger.copyMemory(from: memory, byteCount: end)
            memory.deallocate()
            memory = larger
        }
    }
}
