import BeagleNet
import BeagleNetHTTP

/// The part that the cache had in a response, for notes and for `--json`.
struct CacheReport: Sendable {
    private let status: CacheStatus
    /// The result of the last attempt to use the network, or `nil` without an attempt.
    private let attempt: Attempt?

    /// The result of an attempt to use the network.
    enum Attempt: Sendable {
        case status(Int)
        case failure(NetworkError)
    }

    init(_ status: CacheStatus, after attempt: Attempt?) {
        (self.status, self.attempt) = (status, attempt)
    }

    /// Whether the body is a stored one.
    private var isStored: Bool { status.age != nil || status.isRevalidated }

    /// Whether the server sent only the rest of the body.
    private var isContinued: Bool {
        guard status.forwardReason == .partial, case .status(206) = attempt else { return false }
        return true
    }

    /// The note that says that a response came from the cache; `nil` if all of it came from the server.
    var note: String? {
        if isContinued { return "continued from the cache, which had the beginning" }
        if status.isRevalidated { return "from the cache, confirmed by the server" }
        guard let age = status.age else { return nil }
        let note = "from the cache, \(age.roughText) old"
        guard status.isStale else { return note }
        return "\(note), stale\(reason.map { "; \($0)" } ?? "")"
    }

    /// The reason that a stale response is used instead of the server's.
    private var reason: String? {
        guard status.forwardReason != nil else { return nil }
        switch attempt {
        case .failure(let error): return error.message.printable
        case .status(let code): return "the server responded with \(code)"
        case nil: return nil
        }
    }

    /// The value of `cache` in the result for `--json`.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "status": .string("\(status)"), "stored": .bool(isStored), "stale": .bool(status.isStale),
        ]
        if status.isRevalidated { members["confirmed"] = true }
        if isContinued { members["continued"] = true }
        members["ageSeconds"] = status.age.map { .integer($0.components.seconds) }
        members["ttlSeconds"] = status.timeToLive.map { .integer($0.components.seconds) }
        return .object(members)
    }
}

extension Duration {
    /// The duration in one unit, rounded down, such as `3 s`, `5 min`, `2 h` or `4 days`.
    var roughText: String {
        let seconds = components.seconds
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) days"
        }
    }
}
