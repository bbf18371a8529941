import BeagleNetDependencies
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reports the events of one WebSocket to the app. Its methods must be called without a lock held.
struct SocketEventReporter: Sendable {
    private let onEvent: (@Sendable (GraphQLSocketOptions.Event) -> Void)?
    /// The scope in which the app's closures are called.
    private let scope: Beagle.Scope
    /// Whether the WebSocket before this one failed.
    private let isRetry: Bool

    init(_ options: GraphQLSocketOptions, in scope: Beagle.Scope, isRetry: Bool) {
        onEvent = options.onEvent
        self.scope = scope
        self.isRetry = isRetry
    }

    func report(_ event: GraphQLSocketOptions.Event) {
        if let onEvent { scope.run { onEvent(event) } }
    }

    func reportConnecting() {
        report(.connecting(isRetry: isRetry))
    }

    /// - Parameter failure: The error of an unintended end, or `nil` if one side closed the WebSocket.
    func reportEnd(_ failure: NetworkError?, _ close: WebSocket.Close) {
        if let failure { report(.failed(failure)) }
        report(.closed(close))
    }

    /// - Parameter isFirst: Whether the server has not acknowledged the connection before.
    func report(received message: SocketMessage, isFirst: @autoclosure () -> Bool) throws(SocketProtocolError) {
        if onEvent == nil { return }
        switch message {
        case .acknowledgement(let payload) where isFirst(): report(.connected(try value(payload), isRetry: isRetry))
        case .ping(let payload): report(.ping(.received, JSONValue(whereReadable: payload)))
        case .keepAlive(let payload): report(.pong(.received, JSONValue(whereReadable: payload)))
        default: break
        }
    }

    func report(sent request: SocketRequest) {
        switch request {
        case .ping: report(.ping(.sent, nil))
        case .pong(let payload): report(.pong(.sent, onEvent == nil ? nil : JSONValue(whereReadable: payload)))
        default: break
        }
    }

    private func value(_ payload: Data?) throws(SocketProtocolError) -> JSONValue? {
        guard let payload else { return nil }
        do throws(NetworkError) {
            return try JSONValue(parsing: payload)
        } catch {
            throw SocketProtocolError(reason: "the payload of a message cannot be parsed")
        }
    }
}

extension JSONValue {
    /// Parses the payload of a ping or pong. An unreadable payload is `nil` and no error, because only the app uses it.
    fileprivate init?(whereReadable payload: Data?) {
        guard let payload else { return nil }
        do throws(NetworkError) {
            self = try JSONValue(parsing: payload)
        } catch {
            return nil
        }
    }
}
