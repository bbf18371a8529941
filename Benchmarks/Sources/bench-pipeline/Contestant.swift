import BeagleNet
import Foundation

/// A way from those who ask to the transport, through four steps.
protocol Contestant {
    var name: String { get }

    /// The number of operations in a round beside `active` others.
    func count(beside active: Int) -> Int

    /// The cost of building a message, if each operation builds one.
    func message() async throws -> Tally

    /// The cost of the transport at its end, called in the same way.
    func transport() async throws -> Tally

    /// Performs an operation whose response is available immediately, and waits for it.
    func run(_ index: Int) async throws

    /// Asks likewise, hears the answer, and leaves.
    func watch(_ index: Int) throws

    /// Receives `InstantTransport.events` reports of progress; `nil` if the contestant has no progress.
    var progress: (() throws -> Void)? { get }

    /// Asks for one of the answers that a store has in memory, where it gives the others; nil where that is not offered.
    var hit: ((_ index: Int) async throws -> Void)? { get }

    /// Asks for what is not answered.
    ///
    /// - Returns: what cancels it.
    func wait(_ index: Int) throws -> () -> Void
}

extension Contestant {
    var hit: ((_ index: Int) async throws -> Void)? { nil }

    func message() async throws -> Tally { .zero }

    func transport() async throws -> Tally {
        let transport: any HTTPTransport = InstantTransport()
        let messages = try Sample.instant.map(Sample.message)
        return try await .of(20_000) {
            for index in 0..<20_000 { _ = try await transport.perform(messages[index & 63]) }
        }
    }
}

/// The operations that all contestants perform.
enum Sample {
    static let instant = (0..<64).map { "/screen/\($0)" }
    static let progress = InstantTransport.progress

    static func waiting(_ index: Int) -> String { "\(InstantTransport.waiting)/\(index)" }

    static func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://host\(path)") else { throw NoURL() }
        return url
    }

    /// The message as `HttpRequestBuilder` makes it, for those who do not build it themselves.
    static func message(_ path: String) throws -> TransferRequest {
        try HttpRequestBuilder().build(Request(url: url(path), type: .fetchComponent))
    }

    struct NoURL: Error {}
}
