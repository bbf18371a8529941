import BeagleNetCache
import BeagleNetHTTP
import Foundation

/// The bytes that hold a stored response without its body and selecting fields.
///
/// `Set-Cookie` is left out, so that no session reaches the disk.
enum StoredHead {
    /// The version of the layout.
    private static let version: UInt8 = 1
    private static let isRedirected: UInt8 = 1
    /// The URL is followed by the query of the key, which doesn't stand in the bytes.
    private static let hasQueryOfKey: UInt8 = 2

    /// Encodes a response.
    ///
    /// - Parameter holdsSecrets: Whether the bytes will be encrypted and may have the whole URL. Otherwise they have
    ///   the URL without user, query and fragment.
    static func encode(_ response: StoredResponse, for key: ResponseKey, holdsSecrets: Bool) -> Data {
        var flags = response.isRedirected ? isRedirected : 0
        var url = response.url[...]
        if !holdsSecrets {
            let (place, rest) = URLText.parts(of: response.url)
            if !rest.isEmpty, rest == URLText.rest(of: key.target) { flags |= hasQueryOfKey }
            url = place[...]
        }
        var writer = ByteWriter()
        writer.write(version)
        writer.write(flags)
        writer.write(UInt32(response.head.status.code))
        writer.write(Data(response.head.status.reasonPhrase.utf8))
        writer.write(response.requestTime.timeIntervalSinceReferenceDate.bitPattern)
        writer.write(response.responseTime.timeIntervalSinceReferenceDate.bitPattern)
        writer.write(Data(url.utf8))
        writer.write(response.head.headerFields)
        writer.write(response.trailers)
        return writer.bytes
    }

    /// Decodes a response, or returns `nil` if the bytes are malformed.
    ///
    /// - Parameter key: The key of the response, or `nil` for one that is listed only.
    static func decode(
        _ bytes: Data,
        for key: ResponseKey?,
        selectingFields: [StoredResponse.SelectingField] = [],
        body: Data = Data()
    ) -> StoredResponse? {
        var reader = ByteReader(bytes)
        guard reader.byte() == version, let flags = reader.byte(), let code = reader.integer(UInt32.self),
            code < 1_000, let reason = reader.data(), let requested = reader.integer(UInt64.self),
            let received = reader.integer(UInt64.self), let url = reader.data(), let fields = reader.fields(),
            let trailers = reader.fields(), reader.isAtEnd
        else { return nil }
        let status = HTTPResponse.Status(code: Int(code), reasonPhrase: String(decoding: reason, as: UTF8.self))
        let query = flags & hasQueryOfKey != 0 ? key.map { URLText.rest(of: $0.target) } ?? "" : ""
        return StoredResponse(
            head: HTTPResponse(status: status, headerFields: fields),
            body: body,
            trailers: trailers,
            url: String(decoding: url, as: UTF8.self) + query,
            selectingFields: selectingFields,
            isRedirected: flags & isRedirected != 0,
            requestTime: Date(timeIntervalSinceReferenceDate: Double(bitPattern: requested)),
            responseTime: Date(timeIntervalSinceReferenceDate: Double(bitPattern: received))
        )
    }
}

extension StoredHead {
    /// Writes integers, and bytes after their length.
    private struct ByteWriter {
        private(set) var bytes = Data()

        mutating func write<Integer: FixedWidthInteger>(_ integer: Integer) {
            withUnsafeBytes(of: integer.littleEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func write(_ data: Data) {
            write(UInt32(truncatingIfNeeded: data.count))
            bytes.append(data)
        }

        mutating func write(_ fields: HTTPFields) {
            let fields = fields.filter { $0.name != .setCookie && $0.name.canonicalName != "set-cookie2" }
            write(UInt32(truncatingIfNeeded: fields.count))
            for field in fields {
                write(Data(field.name.rawName.utf8))
                field.withUnsafeBytesOfValue { write(Data($0)) }
            }
        }
    }

    /// Reads the bytes of a `ByteWriter`. All functions return `nil` at their end.
    private struct ByteReader {
        private var rest: Data

        init(_ bytes: Data) {
            rest = bytes
        }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func byte() -> UInt8? { rest.popFirst() }

        mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
            take(Integer.bitWidth / 8).map { $0.withUnsafeBytes { Integer(littleEndian: $0.loadUnaligned(as: type)) } }
        }

        mutating func data() -> Data? { integer(UInt32.self).flatMap { take(Int($0)) } }

        mutating func fields() -> HTTPFields? {
            guard let count = integer(UInt32.self) else { return nil }
            var fields = HTTPFields()
            for _ in 0..<count {
                guard let text = data(), let name = HTTPField.Name(String(decoding: text, as: UTF8.self)),
                    let value = data()
                else { return nil }
                fields.append(HTTPField(name: name, value: value))
            }
            return fields
        }

        private mutating func take(_ count: Int) -> Data? {
            guard count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
    }
}
