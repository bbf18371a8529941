import BeagleNet
import Testing
import TestClients

struct HTTPTransportTests {
    @Test func cancelledTaskStartsNoTransfer() async {
        let transport = ScriptedTransport(status: .ok)
        let request = TransferRequest(HTTPRequest(method: .put, scheme: "https", authority: "a.example", path: "/b"))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.perform(request)
        }
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true && error?.mayHaveReachedServer == false)
        #expect(error?.request == request.head)
        #expect(transport.requests.withLock { $0.isEmpty })
    }
}
