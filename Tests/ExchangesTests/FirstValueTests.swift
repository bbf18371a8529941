import BeagleNetHTTP
import Testing

@testable import BeagleNetExchanges

@Suite(.timeLimit(.minutes(5))) struct FirstValueTests {
    @Test func firstValueIsReturned() async throws {
        #expect(try await FirstValue.of([1, 2, 3].publisher) == 1)
        #expect(try await FirstValue.of(Just(1)) == 1)
    }

    @Test func failureIsThrown() async {
        let failing = Fail<Int, NetworkError>(error: NetworkError(.other, during: .response, "no"))
        let error = await #expect(throws: NetworkError.self) { try await FirstValue.of(failing) }
        #expect(error?.message == "no")
    }

    @Test func endWithoutAValueThrows() async {
        let error = await #expect(throws: NetworkError.self) { try await FirstValue.of(Empty<Int, Never>()) }
        #expect(error?.kind == .cancelled)
    }

    @Test func cancellingTheTaskCancelsThePublisher() async {
        let cancels = Lock(0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            let never = Empty<Int, Never>(completeImmediately: false)
            return try await FirstValue.of(
                never.handleEvents(
                    receiveSubscription: { _ in begin.finish() },
                    receiveCancel: { cancels.withLock { $0 += 1 } }
                )
            )
        }
        for await _ in begun {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(cancels.withLock { $0 } == 1)
    }
}
