import BeagleNetCurl
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a body is coded in (RFC 9110, 8.4), as long as nobody has undone it.
struct BodyCoding: Sendable, Hashable {
    private let names: String

    /// nil where the value of `Content-Encoding` names none.
    init?(_ contentEncoding: String?) {
        guard let contentEncoding else { return nil }
        let names = contentEncoding.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        guard names.contains(where: { $0 != "identity" }) else { return nil }
        self.names = names.joined(separator: ",")
    }

    /// Whether it can be undone here.
    var isKnown: Bool { decoder() != nil }

    /// What undoes it a piece at a time; nil where nobody here can.
    func decoder() -> ContentDecoder? {
        do throws(NetworkError) { return try ContentDecoder(contentEncoding: names) } catch { return nil }
    }

    /// The whole body without it; nil where it is not coded so, was cut off, or would be longer than `limit` bytes.
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
    /// - Parameter take: takes what comes of it, and says whether more is wanted.
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

extension LoggedRequest {
    /// What its head says that the body is coded in; nil where it says nothing. A log holds the body without it; some tools
    /// write it as it was sent.
    var coding: BodyCoding? { BodyCoding(fields["Content-Encoding"]) }

    /// The bytes of its body without the coding, where they have it.
    func decoded(_ data: Data) -> Data { coding?.decoded(data) ?? data }

    /// The bytes of its body as they can be looked through: decoded; nil where they seem to be coded and cannot be decoded.
    func readable(_ data: Data) -> Data? {
        guard let coding else { return data }
        return coding.decoded(data) ?? (String(validating: data, as: UTF8.self) == nil ? nil : data)
    }

    /// Its head's fields as they fit these bytes: without a coding that the body has not.
    func fields(for body: Data?) -> [LoggedField] {
        guard let coding, coding.isKnown, let body, coding.decoded(body) == nil else { return fields }
        return fields.filter { $0.name.lowercased() != "content-encoding" }
    }
}
