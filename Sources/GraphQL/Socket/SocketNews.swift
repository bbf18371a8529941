import BeagleNetDependencies
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tells the app what happens to one WebSocket, where it wants to know. To be called with no lock held.
struct SocketNews: Sendable {
    private let onEvent: (@Sendable (GraphQLSocketEvent) -> Void)?
    /// What the app's functions are called in.
    private let scope: Beagle.Scope
    /// Whether the WebSocket before this one failed.
    private let isRetry: Bool

    init(_ options: GraphQLSocketOptions, in scope: Beagle.Scope, isRetry: Bool) {
        onEvent = options.onEvent
        self.scope = scope
        self.isRetry = isRetry
    }

    func tell(_ event: GraphQLSocketEvent) {
        if let onEvent { scope.run { onEvent(event) } }
    }

    func tellOfBeginning() {
        tell(.connecting(isRetry: isRetry))
    }

    /// - Parameter failure: what neither side meant to happen; nil where one of them ended it.
    func tellOfEnd(_ failure: NetworkError?, _ close: WebSocketClose) {
        if let failure { tell(.failed(failure)) }
        tell(.closed(close))
    }

    /// - Parameter isFirst: whether the server had not said before that it takes operations.
    func tell(ofReceived message: SocketMessage, isFirst: @autoclosure () -> Bool) throws(SocketFault) {
        if onEvent == nil { return }
        switch message {
        case .acknowledgement(let payload) where isFirst(): tell(.connected(try value(payload), isRetry: isRetry))
        case .ping(let payload): tell(.ping(.received, JSONValue(whereReadable: payload)))
        case .signOfLife(let payload): tell(.pong(.received, JSONValue(whereReadable: payload)))
        default: break
        }
    }

    func tell(ofSent request: SocketRequest) {
        switch request {
        case .ping: tell(.ping(.sent, nil))
        case .pong(let payload): tell(.pong(.sent, onEvent == nil ? nil : JSONValue(whereReadable: payload)))
        default: break
        }
    }

    private func value(_ payload: Data?) throws(SocketFault) -> JSONValue? {
        guard let payload else { return nil }
        do throws(NetworkError) {
            return try JSONValue(parsing: payload)
        } catch {
            throw SocketFault(reason: "the payload of a message cannot be parsed")
        }
    }
}

extension JSONValue {
    /// What came with a sign of life; nil if it can't be read: nobody else looks into it.
    fileprivate init?(whereReadable payload: Data?) {
        guard let payload else { return nil }
        do throws(NetworkError) {
            self = try JSONValue(parsing: payload)
        } catch {
            return nil
        }
    }
}
