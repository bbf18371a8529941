import BeagleNet
import Foundation

/// A client with four steps between its caller and the transport.
protocol MeasuredClient {
    var name: String { get }

    /// The number of operations in a round beside `active` others.
    func count(beside active: Int) -> Int

    /// The cost of building a message, if each operation builds one.
    func message() async throws -> Cost

    /// The cost of the transport at its end, called in the same way.
    func transport() async throws -> Cost

    /// Performs an operation whose response is available immediately, and waits for it.
    func run(_ index: Int) async throws

    /// Performs the same operation with a subscriber that receives the answer and leaves.
    func watch(_ index: Int) throws

    /// Receives `InstantTransport.events` reports of progress; `nil` if the client has no progress.
    var progress: (() throws -> Void)? { get }

    /// Requests a response that is stored in memory; `nil` if the client has no store.
    var hit: ((_ index: Int) async throws -> Void)? { get }

    /// Starts an operation that isn't answered.
    ///
    /// - Returns: A function that cancels it.
    func wait(_ index: Int) throws -> () -> Void
}

extension MeasuredClient {
    var hit: ((_ index: Int) async throws -> Void)? { nil }

    func message() async throws -> Cost { .zero }

    func transport() async throws -> Cost {
        let transport: any HTTPTransport = InstantTransport()
        let messages = try Sample.instant.map(Sample.message)
        return try await .of(20_000) {
            for index in 0..<20_000 { _ = try await transport.perform(messages[index & 63]) }
        }
    }
}

/// The operations that all clients perform.
enum Sample {
    static let instant = (0..<64).map { "/screen/\($0)" }
    static let progress = InstantTransport.progress

    static func waiting(_ index: Int) -> String { "\(InstantTransport.waiting)/\(index)" }

    static func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://host\(path)") else { throw NoURL() }
        return url
    }

    /// Returns the message that `HttpRequestBuilder` builds, for clients that don't build messages.
    static func message(_ path: String) throws -> TransferRequest {
        try HttpRequestBuilder().build(Request(url: url(path), type: .fetchComponent))
    }

    struct NoURL: Error {}
}
