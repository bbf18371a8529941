import BeagleNetHTTP

/// A message as a transfer and its hop share it. It never changes, so a look at it costs no check of exclusive access.
final class Message: Sendable {
    let request: TransferRequest
    let method: HTTPRequest.Method

    init(_ request: TransferRequest) {
        self.request = request
        method = request.head.method
    }

    /// The message with a change.
    func changed(_ change: (inout TransferRequest) -> Void) -> Message {
        var request = request
        change(&request)
        return Message(request)
    }
}
