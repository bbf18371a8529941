import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The parameters of a WebSocket connection: its URL, header fields and initial message.
struct WebSocketConnector: Sendable {
    private let options: GraphQLSocketOptions
    /// The operation's request.
    private let transfer: TransferRequest
    private let declaredOrigins: Set<Origin>
    private let hasParameters: Bool
    /// The maximum message size, in bytes.
    let maxMessageBytes: Int
    private let transport: any WebSocket.Transport
    /// The scope in which the app's closures are called.
    let scope: Beagle.Scope

    /// Creates the parameters of a connection.
    ///
    /// - Parameters:
    ///   - transfer: The request of an operation.
    ///   - declaredOrigins: The origins that the app declares as its own.
    ///   - hasParameters: Whether the server receives the options' parameters.
    ///   - maxMessageBytes: The maximum message size, in bytes.
    init(
        _ options: GraphQLSocketOptions,
        _ transfer: TransferRequest,
        declaredOrigins: Set<Origin> = [],
        hasParameters: Bool,
        maxMessageBytes: Int = 16 << 20,
        over transport: any WebSocket.Transport
    ) {
        self.options = options
        self.transfer = transfer
        self.declaredOrigins = declaredOrigins
        self.hasParameters = hasParameters
        self.maxMessageBytes = maxMessageBytes
        self.transport = transport
        scope = Beagle.scope
    }

    /// Asks the app for the URL and parameters, and connects.
    ///
    /// - Returns: The WebSocket, and the parameters of the initial message.
    /// - Throws: `NetworkError`; of kind `.unsupported` if the server has no WebSocket with this protocol.
    func open() async throws(NetworkError) -> (webSocket: WebSocket, parameters: Data?) {
        let request = try await request()
        let parameters = try await parameters()
        do throws(NetworkError) {
            let webSocket = try await transport.openWebSocket(request)
            guard webSocket.subprotocol == options.subprotocol.rawValue else {
                throw .otherSubprotocol(than: options.subprotocol, webSocket.response)
            }
            return (webSocket, parameters)
        } catch {
            throw error.asRefusal(of: options.subprotocol)
        }
    }

    private func parameters() async throws(NetworkError) -> Data? {
        guard hasParameters, let provide = options.parameters else { return nil }
        let parameters = try await NetworkError.catching { try await scope.run { try await provide() } }
        switch parameters {
        case nil, .null: return nil
        case .object: return try parameters?.data()
        default:
            throw NetworkError(
                .badConfiguration,
                during: .build,
                "GraphQLSocketOptions.parameters did not return a JSON object"
            )
        }
    }

    private func request() async throws(NetworkError) -> WebSocket.Request {
        var head = HTTPRequest(
            method: .get,
            scheme: transfer.head.scheme,
            authority: transfer.head.authority,
            path: transfer.head.path,
            headerFields: transfer.head.connectionFields
        )
        var options = transfer.options
        if let provide = self.options.url {
            let url = try await NetworkError.catching { try await scope.run { try await provide() } }
            try move(&head, &options, to: url)
        }
        var request = WebSocket.Request(head, subprotocols: [self.options.subprotocol.rawValue], options: options)
        request.maxMessageBytes = maxMessageBytes
        return request
    }

    /// Changes the destination, under the same rules as for the endpoint, and removes the header fields that are meant
    /// only for its origin.
    private func move(_ head: inout HTTPRequest, _ options: inout TransferOptions, to url: URL) throws(NetworkError) {
        var builder = HttpRequestBuilder()
        builder.allowedHosts = transfer.allowedHosts
        let target = try builder.build(Request(url: url.withoutWebSocketScheme, type: .rawRequest(.init()))).head
        head.scheme = target.scheme
        head.authority = target.authority
        head.path = target.path
        let origin = Origin(of: head)
        guard origin != Origin(of: transfer.head), !declaredOrigins.contains(origin) else { return }
        let redactor = Redactor()
        head.headerFields.removeAll { field in
            transfer.originScopedFields.contains(field.name) || redactor.isSecret(header: field.name.rawName)
        }
        options.dropCredentials()
    }
}

extension URL {
    /// The URL with `ws` and `wss` replaced by `http` and `https`.
    fileprivate var withoutWebSocketScheme: URL {
        guard let scheme = scheme?.lowercased(), scheme == "ws" || scheme == "wss" else { return self }
        let rest = absoluteString.dropFirst(scheme.utf8.count)
        return URL(string: (scheme == "ws" ? "http" : "https") + rest) ?? self
    }
}

extension HTTPFields {
    fileprivate func filter(_ isIncluded: (HTTPField) -> Bool) -> HTTPFields {
        var fields = HTTPFields()
        for field in self where isIncluded(field) { fields.append(field) }
        return fields
    }
}
