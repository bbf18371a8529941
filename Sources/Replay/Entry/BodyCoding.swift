import BeagleNetCurl
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The content coding of a body that hasn't been decoded yet (RFC 9110, 8.4).
struct BodyCoding: Sendable, Hashable {
    private let names: String

    /// Reads the value of `Content-Encoding`; returns `nil` if it doesn't name a coding.
    init?(_ contentEncoding: String?) {
        guard let contentEncoding else { return nil }
        let names = contentEncoding.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        guard names.contains(where: { $0 != "identity" }) else { return nil }
        self.names = names.joined(separator: ",")
    }

    /// Whether a decoder for the coding is available.
    var isKnown: Bool { decoder() != nil }

    /// Returns a decoder that takes the body in pieces; `nil` if the coding is not supported.
    func decoder() -> ContentDecoder? {
        do throws(NetworkError) { return try ContentDecoder(contentEncoding: names) } catch { return nil }
    }

    /// Decodes a whole body; returns `nil` if it isn't in this coding, is cut off, or would be longer than `limit`
    /// bytes.
    func decoded(_ data: Data, upTo limit: Int = 64 << 20) -> Data? {
        guard let decoder = decoder(), !data.isEmpty else { return nil }
        var decoded = Data()
        do {
            try decoder.decode(data) { piece in
                decoded += piece
                return decoded.count <= limit
            }
            try decoder.finish()
        } catch {
            return nil
        }
        return decoded.count <= limit ? decoded : nil
    }
}

extension ContentDecoder {
    /// Decodes the next piece.
    ///
    /// - Parameter take: receives the decoded bytes, and returns whether to continue.
    func decode(_ piece: Data, _ take: (Data) throws(NetworkError) -> Bool) throws(NetworkError) {
        do {
            try piece.withUnsafeBytes { bytes in
                var rest = bytes
                while true {
                    let decoded = try decode(&rest)
                    guard !decoded.isEmpty, try take(Data(decoded)) else { return }
                }
            }
        } catch {
            throw NetworkError(wrapping: error)
        }
    }
}

extension LogEntry.Request {
    /// The content coding that the header fields state; `nil` if they don't state one.
    ///
    /// Our logs hold decoded bodies. Some other tools write a body as it was sent.
    var coding: BodyCoding? { BodyCoding(fields["Content-Encoding"]) }

    /// Returns the body's bytes without the content coding, if they have it.
    func decoded(_ data: Data) -> Data { coding?.decoded(data) ?? data }

    /// Returns the body's bytes in a form that can be searched; `nil` if they seem to be coded and cannot be decoded.
    func readable(_ data: Data) -> Data? {
        guard let coding else { return data }
        return coding.decoded(data) ?? (String(validating: data, as: UTF8.self) == nil ? nil : data)
    }

    /// Returns the header fields that fit these bytes, without a `Content-Encoding` that the body doesn't have.
    func fields(for body: Data?) -> [LogEntry.Field] {
        guard let coding, coding.isKnown, let body, coding.decoded(body) == nil else { return fields }
        return fields.filter { $0.name.lowercased() != "content-encoding" }
    }
}
