import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The stored form of an operation: the message to send, without credentials.
///
/// A file has a line with the format and the SHA-256 of the rest, a line of JSON about the message, and the bytes of
/// the body. A file that was truncated or changed is thus detected. An encrypted file has a line with the format, the
/// cipher, the key's identifier and the number of bytes that follow: the nonce, the encrypted file, and the tag.
struct OutboxMessage: Sendable {
    private static let format = "beagle-outbox 1 "
    private static let sealedFormat = "beagle-outbox 2 aes-256-gcm "
    private static let anyFormat = "beagle-outbox "

    var queue: String
    var kind: NetworkOperation.Kind
    var partition = ""
    /// The time when the message was accepted, in seconds since 1970.
    var accepted: Double
    /// The method, URL and fields.
    var head: HTTPRequest
    var body: Data?

    var idempotencyKey: String { head.headerFields[.idempotencyKey] ?? "" }

    /// Returns the identifier of the entry.
    ///
    /// It is equal for messages that are the same to a server that supports idempotency keys.
    func id() throws(NetworkError) -> String {
        // The partition is last because it may contain newlines.
        let text = "\(idempotencyKey)\n\(head.method.rawValue)\n\(head.urlText)\n\(partition)"
        return String(try SHA256Digest.hex(of: Data(text.utf8)).prefix(32))
    }

    /// Whether another message has the same content, whenever it was accepted.
    func hasSameContent(as other: OutboxMessage) -> Bool {
        queue == other.queue && kind == other.kind && partition == other.partition && head == other.head
            && body == other.body
    }

    /// Returns the bytes of the file.
    ///
    /// - Parameter key: The key that encrypts the file; `nil` for clear text.
    func encoded(_ key: Outbox.Key?) throws(NetworkError) -> Data {
        guard let key else { return try encoded() }
        let file = try encoded()
        // A nonce of 12 bytes and a tag of 16 bytes.
        let line = Data("\(Self.sealedFormat)\(key.id) \(file.count + 28)".utf8)
        return line + Data("\n".utf8) + (try key.seal(file, under: line))
    }

    private func encoded() throws(NetworkError) -> Data {
        let fields = head.headerFields.map { JSONValue.array([.string($0.name.rawName), .string($0.opaqueValue)]) }
        let json: JSONValue = [
            "queue": .string(queue), "kind": .string(kind.name), "isShared": .bool(kind.isShared),
            "partition": .string(partition), "accepted": .number(accepted),
            "method": .string(head.method.rawValue), "scheme": .string(head.scheme ?? ""),
            "authority": .string(head.authority ?? ""), "path": .string(head.path ?? ""), "fields": .array(fields),
            "length": body.map { .integer(Int64($0.count)) } ?? .null,
        ]
        let content = try json.data() + Data("\n".utf8) + (body ?? Data())
        return Data("\(Self.format)\(try SHA256Digest.hex(of: content))\n".utf8) + content
    }
}

extension OutboxMessage {
    /// Reads a file.
    ///
    /// - Parameter key: The key that decrypts the file if it is encrypted.
    /// - Throws: A `NetworkError` of kind `.decoding` if the file is damaged or isn't an entry, `.unsupported` if its
    ///   format is newer or it is encrypted with another key.
    init(_ file: Data, path: String, _ key: Outbox.Key?) throws(NetworkError) {
        guard let end = file.firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged(path, "it is truncated") }
        let line = String(decoding: file[..<end], as: UTF8.self)
        guard !line.hasPrefix(Self.sealedFormat) else {
            guard let key else { throw .encrypted(path, "the outbox has no key") }
            guard line.hasPrefix("\(Self.sealedFormat)\(key.id) ") else {
                throw .encrypted(path, "the outbox has a different key")
            }
            let sealed = Data(file[file.index(after: end)...])
            guard let content = try key.open(sealed, under: Data(line.utf8)) else {
                throw .damaged(path, "it was truncated or changed")
            }
            self = try OutboxMessage(content, path: path, nil)
            return
        }
        try Self.checkFormat(line, path: path)
        let content = Data(file[file.index(after: end)...])
        guard try SHA256Digest.hex(of: content) == line.dropFirst(Self.format.count) else {
            throw .damaged(path, "it was truncated or changed")
        }
        guard let endOfJSON = content.firstIndex(of: UInt8(ascii: "\n")) else {
            throw .damaged(path, "it is truncated")
        }
        let body = Data(content[content.index(after: endOfJSON)...])
        do throws(NetworkError) {
            try self.init(JSONValue(parsing: Data(content[..<endOfJSON])), body)
        } catch {
            throw .damaged(path, "its header cannot be read")
        }
    }

    /// Checks the size of a file before the file is read.
    ///
    /// - Parameter beginning: The first bytes of the file.
    /// - Throws: The same errors as reading the file, or `.decoding` if the header declares another size.
    static func check(_ size: Int64, against beginning: Data, path: String) throws(NetworkError) {
        guard let end = beginning.firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged(path, "it is truncated") }
        let line = String(decoding: beginning[..<end], as: UTF8.self)
        guard !line.hasPrefix(sealedFormat) else {
            let announced = line.split(separator: " ").last.flatMap { Int64($0) } ?? 0
            // Subtract from the size, because adding to a value from the file could overflow.
            guard announced == size - Int64(line.utf8.count) - 1 else { throw .otherSize(path, size) }
            return
        }
        try checkFormat(line, path: path)
        let rest = beginning[beginning.index(after: end)...]
        guard let endOfJSON = rest.firstIndex(of: UInt8(ascii: "\n")),
            let json = try? JSONValue(parsing: Data(rest[..<endOfJSON]))
        else { throw .damaged(path, "its header cannot be read") }
        let head = Int64(beginning.distance(from: beginning.startIndex, to: endOfJSON) + 1)
        let (whole, isTooLarge) = head.addingReportingOverflow(json["length"]?.integer ?? 0)
        guard !isTooLarge, whole == size else { throw .otherSize(path, size) }
    }

    private static func checkFormat(_ line: String, path: String) throws(NetworkError) {
        guard !line.hasPrefix(format) else { return }
        let words = line.split(separator: " ")
        let version = line.hasPrefix(anyFormat) && words.count > 1 ? Int(words[1]) ?? 0 : 0
        throw version > 1 ? .newer(path) : .damaged(path, "it is not an outbox entry")
    }

    private init(_ json: JSONValue, _ body: Data) throws(NetworkError) {
        guard let method = json["method"]?.string.flatMap({ HTTPRequest.Method($0) }), let kind = json["kind"]?.string,
            let queue = json["queue"]?.string, let fields = json["fields"]?.array
        else { throw .damaged("", "") }
        self.queue = queue
        self.kind = NetworkOperation.Kind(kind, isShared: json["isShared"]?.bool ?? false)
        self.body = json["length"]?.integer == nil ? nil : body
        partition = json["partition"]?.string ?? ""
        accepted = json["accepted"]?.number ?? 0
        head = HTTPRequest(
            method: method,
            scheme: json["scheme"]?.string,
            authority: json["authority"]?.string,
            path: json["path"]?.string
        )
        for field in fields {
            guard let name = field[0]?.string.flatMap({ HTTPField.Name($0) }), let value = field[1]?.string else {
                throw .damaged("", "")
            }
            head.headerFields.append(HTTPField(name: name, opaqueValue: value))
        }
    }
}

extension NetworkError {
    static func damaged(_ path: String, _ why: String) -> NetworkError {
        NetworkError(.decoding, during: .build, "the outbox entry \(path) is damaged: \(why)")
    }

    fileprivate static func otherSize(_ path: String, _ size: Int64) -> NetworkError {
        .damaged(path, "it has \(size) bytes, but its header declares a different size")
    }

    fileprivate static func encrypted(_ path: String, _ why: String) -> NetworkError {
        NetworkError(
            .unsupported,
            during: .build,
            "the outbox entry \(path) is encrypted, but \(why)",
            advice:
                "open the outbox with the key of the entry; the file stays in place, and other entries are not affected"
        )
    }

    fileprivate static func newer(_ path: String) -> NetworkError {
        NetworkError(
            .unsupported,
            during: .build,
            "the outbox entry \(path) was written by a newer version of BeagleNet",
            advice: "send it with that version; the file stays in place, and other entries are not affected"
        )
    }
}
