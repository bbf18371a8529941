extension TransferResponse {
    /// The final data of a transfer, available when the response body has ended.
    public struct End: Sendable, Hashable {
        /// The metrics of the whole transfer.
        public var metrics: TransferMetrics
        /// The trailer fields that followed the body.
        public var trailers: HTTPFields

        /// Creates the final data of a transfer.
        public init(metrics: TransferMetrics = TransferMetrics(), trailers: HTTPFields = [:]) {
            self.metrics = metrics
            self.trailers = trailers
        }
    }
}
