/// What is known of a transfer once the body of its answer has ended.
public struct TransferEnd: Sendable, Hashable {
    /// How the transfer went in all.
    public var metrics: TransferMetrics
    /// The fields behind the body.
    public var trailers: HTTPFields

    /// Describes the end of a transfer.
    public init(metrics: TransferMetrics = TransferMetrics(), trailers: HTTPFields = [:]) {
        self.metrics = metrics
        self.trailers = trailers
    }
}
