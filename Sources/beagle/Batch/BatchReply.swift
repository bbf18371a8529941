import BeagleNet
import BeagleNetHTTP
import Foundation

/// The reply lines of `beagle batch`.
enum BatchReply {
    /// The size, in bytes, below which a body is included in the reply as text.
    private static let textLimit = 2000

    /// Returns the reply for a response.
    static func answered(_ response: NetworkResponse) throws(NetworkError) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "status": .integer(Int64(response.status.code)),
            "headers": fields(response.response.headerFields),
            "bodyBytes": .integer(Int64(response.data.count)),
            "bodySha256": .string(try SHA256Digest.hex(of: response.data)),
        ]
        if response.data.count < textLimit { members["body"] = .string(String(decoding: response.data, as: UTF8.self)) }
        if let status = response.cacheStatus {
            members["cache"] = .string("\(status)")
            members["fromCache"] = .bool(status.age != nil || status.isRevalidated)
        }
        if !response.interim.isEmpty {
            members["interim"] = .array(
                response.interim.map { [.integer(Int64($0.status.code)), fields($0.headerFields)] }
            )
        }
        return members
    }

    /// Returns the reply for a failure. A timeout before the connection was established and a response that isn't
    /// stored have error codes of their own.
    static func failed(_ error: NetworkError) -> [String: JSONValue] {
        let isUnconnected = [.resolve, .connect, .tls].contains(error.phase)
        let code =
            switch error.kind {
            case .timeout where isUnconnected: "connect_timeout"
            case .notStored: "cache_miss"
            default: error.kind.rawValue
            }
        let message = advice(for: error).map { "\(error.message); \($0)" } ?? error.message
        return [
            "error": ["code": .string(code), "phase": .string(error.phase.rawValue), "message": .string(message)]
        ]
    }

    /// Returns advice in terms of the line protocol.
    private static func advice(for error: NetworkError) -> String? {
        if error.kind == .notStored { return "use another cacheMode to allow using the network" }
        guard error.advisesOnAPI else { return error.advice }
        if error.advice?.contains("RedirectPolicy.") == true { return "check the redirects of the server" }
        switch error.kind {
        case .timeout: return "allow more time with timeoutMs or connectTimeoutMs"
        case .tls: return "check the certificate and the host name, or name a file of trusted CAs with tlsCA"
        case .tooLarge: return "increase maxBodyBytes"
        default: return error.advice
        }
    }

    /// The reply to `hello`, which describes the tool.
    ///
    /// - Parameter features: The names of the cache's abilities.
    static func hello(_ features: [String]) -> [String: JSONValue] {
        [
            "name": "BeagleNet",
            "version": .string(beagleNetVersion),
            "cache": "private",
            "features": .array(features.map { .string($0) }),
        ]
    }

    private static func fields(_ fields: HTTPFields) -> JSONValue {
        .array(fields.map { [.string($0.name.rawName), .string($0.value)] })
    }
}
