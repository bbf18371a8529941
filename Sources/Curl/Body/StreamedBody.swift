import BeagleNetHTTP

/// The body that a response streams, with the metrics and trailers that the response reads after its end.
struct StreamedBody {
    private let pipe: BodyPipe
    // Not part of the pipe, which the response would retain.
    private let result = Lock<TransferResponse.End?>(nil)

    /// Creates the body that is written to a pipe.
    init(_ pipe: BodyPipe) {
        self.pipe = pipe
    }

    /// A closure that returns the metrics and trailers; `nil` before the end.
    var response: @Sendable () -> TransferResponse.End? {
        { [result] in result.withLock { $0 } }
    }

    /// Ends the body.
    func end(_ outcome: Result<Void, NetworkError>, _ end: TransferResponse.End?) {
        result.withLock { $0 = end }
        pipe.end(outcome)
    }
}
