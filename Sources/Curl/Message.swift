import BeagleNetHTTP

/// A message as one reference, which a transfer and its hop share: it holds a dozen others, and each would be counted
/// with each copy. It never changes, so a look at it costs no check of exclusive access.
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
