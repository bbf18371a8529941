@testable import BeagleNetHTTP
@testable import BeagleNetReplay

extension FuzzTarget {
    /// The first byte is the size of the pieces of an archive, which doesn't change the result. Any entry can be read,
    /// checked and written, and the written entry is valid JSON.
    static func fuzzHAR(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        let (parts, fault) = scan(text, size: max(text.count, 1))
        let again = scan(text, size: Int(first) + 1)
        precondition(parts == again.parts, "the parts of an archive depend on its pieces")
        precondition(fault == again.fault, "a fault depends on the pieces of the archive")
        var last: String?
        for part in parts {
            precondition(
                Array(text[part.offset...].prefix(part.bytes.count)) == part.bytes,
                "a part has the wrong offset"
            )
            guard let document = try? ParsedJSON(part.bytes) else { preconditionFailure("a part is not JSON") }
            let check = HARCheck(file: "", part: part) { finding in
                precondition(finding.offset.map { $0 < text.count } ?? true, "a finding is outside of the text")
            }
            if case .logMember(let name) = part.kind { check.logMember(name, document.root) }
            guard case .entry = part.kind else { continue }
            check.entry(document.root, after: &last)
            var output = JSONOutput()
            LogEntry(document.root).write(to: &output)
            do throws(JSONFault) {
                _ = LogEntry(try ParsedJSON(output.bytes).root)
            } catch {
                preconditionFailure("a written entry is \(error)")
            }
        }
    }

    private static func scan(_ text: [UInt8], size: Int) -> (parts: [ArchivePart], fault: JSONFault?) {
        var scanner = ArchiveScanner(limit: 1 << 20)
        var parts: [ArchivePart] = []
        do throws(JSONFault) {
            var rest = text[...]
            while !rest.isEmpty {
                defer { parts += scanner.takeParts() }
                try Array(rest.prefix(size)).withUnsafeBufferPointer { piece throws(JSONFault) in
                    try scanner.feed(piece)
                }
                rest = rest.dropFirst(size)
            }
            try scanner.finish()
            return (parts + scanner.takeParts(), nil)
        } catch {
            return (parts, error)
        }
    }
}
