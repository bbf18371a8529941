import BeagleNetHTTP
import Foundation

/// The reply lines of `beagle batch`.
enum BatchReply {
    /// The size, in bytes, below which a body is included in the reply as text.
    private static let textLimit = 2000

    /// Returns the reply for a response.
    static func answered(_ response: TransferResponse, _ body: Data) throws(NetworkError) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "status": .integer(Int64(response.head.status.code)),
            "headers": fields(response.head.headerFields),
            "bodyBytes": .integer(Int64(body.count)),
            "bodySha256": .string(try SHA256Digest.hex(of: body)),
        ]
        if body.count < textLimit { members["body"] = .string(String(decoding: body, as: UTF8.self)) }
        if !response.interim.isEmpty {
            members["interim"] = .array(
                response.interim.map { [.integer(Int64($0.status.code)), fields($0.headerFields)] }
            )
        }
        return members
    }

    /// Returns the reply for a failure. A timeout before the connection was established has an error code of its own.
    static func failed(_ error: NetworkError) -> [String: JSONValue] {
        let isUnconnected = [.resolve, .connect, .tls].contains(error.phase)
        let code = error.kind == .timeout && isUnconnected ? "connect_timeout" : error.kind.rawValue
        let message = advice(for: error).map { "\(error.message); \($0)" } ?? error.message
        return [
            "error": ["code": .string(code), "phase": .string(error.phase.rawValue), "message": .string(message)]
        ]
    }

    /// Returns advice in terms of the line protocol.
    private static func advice(for error: NetworkError) -> String? {
        guard error.advisesOnAPI else { return error.advice }
        switch error.kind {
        case .timeout: return "allow more time with timeoutMs or connectTimeoutMs"
        case .tls: return "check the certificate and the host name, or name a file of trusted CAs with tlsCA"
        case .tooLarge: return "increase maxBodyBytes"
        default: return error.advice
        }
    }

    /// The reply to `hello`, which describes the tool.
    static var hello: [String: JSONValue] {
        [
            "name": "BeagleNet",
            "version": .string(beagleNetVersion),
            "cache": "none",
            "features": ["interim"],
        ]
    }

    private static func fields(_ fields: HTTPFields) -> JSONValue {
        .array(fields.map { [.string($0.name.rawName), .string($0.value)] })
    }
}
