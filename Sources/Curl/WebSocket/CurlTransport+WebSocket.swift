public import BeagleNetHTTP

extension CurlTransport: WebSocket.Transport {
    /// Opens a WebSocket; see `WebSocket.Transport`.
    ///
    /// libcurl opens the connection, including TLS and proxies; a proxy is asked for a tunnel (CONNECT). The WebSocket
    /// protocol itself is implemented here, so it also works with a libcurl that was built without WebSockets, such as
    /// Debian 12's.
    public func openWebSocket(_ request: WebSocket.Request) async throws(NetworkError) -> WebSocket {
        do throws(NetworkError) {
            try request.validate()
            var message = request.transfer
            let memory = ClientStores(configuration)
            if let memory, memory.upgrades(message.head) { message.head.upgrade() }
            try MessageCheck.check(message)
            var random = SystemRandomNumberGenerator()
            // Credentials and cookies are sent but appear in no error.
            var sent = request
            sent.head.headerFields = try Hop.fields(of: Message(message), by: memory, via: nil, answering: nil)
            let handshake = try WebSocketHandshake(
                sent,
                host: try Self.host(of: message.head),
                nonce: Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            )
            return try await open(WebSocketLink(request, handshake, resourceTracker: resourceTracker), message)
        } catch {
            var error = error
            error.request = request.head
            throw error
        }
    }

    private func open(_ link: WebSocketLink, _ message: TransferRequest) async throws(NetworkError) -> WebSocket {
        let pipe = link.pipe
        let owner = try owner(for: .longLived)
        let transfer = Transfer(message, on: owner.loop, as: link)
        pipe.connect(
            resume: { [weak transfer] in transfer?.resume() },
            cancel: { [weak transfer] in transfer?.cancel() }
        )
        let actor = #isolation
        await suspend { continuation in
            withExtendedLifetime(owner) { transfer.start(.task(WaitingTask(continuation, on: actor))) }
        } onCancel: {
            transfer.cancel()
        }
        return WebSocket(response: try transfer.takeOutcome().get().head, channel: pipe)
    }
}
