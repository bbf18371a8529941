import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Conversations in which one task receives and another sends.
@Suite(.timeLimit(.minutes(5))) struct RecordingChannelTests {
    @Test func sentMessageIsRecordedBeforeItsReplyAndTheClose() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            let channel = EarlyReplyChannel()
            let transport = RecordingTransport(EarlyReplyServer(channel: channel), log: log)
            let request = WebSocket.Request(Exchanges.message("GET", "wss://a.example/talk").head)
            let socket = try await transport.openWebSocket(request)
            let receiving = Task {
                for try await _ in socket.messages {}
                channel.noteEnd()
            }
            try await socket.send(.text("question"))
            _ = try await socket.close()
            try await receiving.value
            await log.close()
            let messages = try #require(try RequestLog.Reader.read(path).entries.first).messages
            #expect(messages.map(\.direction) == [.send, .receive, .send, .receive])
            #expect(messages.map(\.opcode) == [1, 1, 8, 8])
        }
    }
}

/// A server whose replies are received before `send` returns.
private struct EarlyReplyServer: HTTPTransport, WebSocket.Transport {
    let channel: EarlyReplyChannel

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        completion(.failure(NetworkError(.unsupported, during: .queue, "it speaks through WebSockets alone")))
        return AnyRequestToken()
    }

    func openWebSocket(_ request: WebSocket.Request) async throws(NetworkError) -> WebSocket {
        WebSocket(response: HTTPResponse(status: .switchingProtocols), channel: channel)
    }
}

private final class EarlyReplyChannel: WebSocket.Channel {
    var peerClose: WebSocket.Close? { said.withLock { $0 } }
    private let said = Lock<WebSocket.Close?>(nil)
    private let answers = AsyncStream.makeStream(of: WebSocket.Message.self)
    private let repeatedCall = AsyncStream.makeStream(of: Void.self)
    private let ended = AsyncStream.makeStream(of: Void.self)
    private let hasAnswered = Lock(false)

    func receive() async throws(NetworkError) -> WebSocket.Message? {
        if hasAnswered.withLock({ $0 }) { repeatedCall.continuation.yield() }
        for await answer in answers.stream {
            hasAnswered.withLock { $0 = true }
            return answer
        }
        return nil
    }

    func send(_ message: WebSocket.Message) async throws(NetworkError) {
        answers.continuation.yield(.text("answer"))
        for await _ in repeatedCall.stream { break }
    }

    func close(_ close: WebSocket.Close) async throws(NetworkError) -> WebSocket.Close {
        said.withLock { $0 = close }
        answers.continuation.finish()
        for await _ in ended.stream { break }
        return close
    }

    func abandon() {}

    /// Notes that the receiver has seen the end.
    func noteEnd() { ended.continuation.yield() }
}
