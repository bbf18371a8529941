public import BeagleNet

/// What counts as a difference between what was recorded and what came.
///
/// JSON is compared by what it means: the order of members, whitespace, and how text and numbers are written do not count;
/// `1`, `1.0` and `1e0` are the same, and numbers beyond a `Double` are compared digit by digit. A recorded
/// `REDACTED` stands for any value.
public struct ComparisonRules: Sendable, Hashable {
    /// How the elements of an array find those that they are compared with.
    public enum ArrayOrder: Sendable, Hashable {
        /// By a member whose value tells them apart, as `id`. One that stands elsewhere has moved.
        case key(String)
        /// As a set: where they stand does not count. One that has no equal is compared with up to 64 others that have none.
        case set
    }

    /// An array, and how its elements are matched.
    public struct ArrayRule: Sendable, Hashable {
        /// Where the array is.
        public var path: JSONPath
        /// How its elements are matched.
        public var order: ArrayOrder

        /// Says how the elements of an array are matched.
        public init(_ path: JSONPath, _ order: ArrayOrder) {
            self.path = path
            self.order = order
        }
    }

    /// Header fields that differ from answer to answer, or from server to server, and say nothing of what was asked.
    public static let unsteadyHeaders: Set<String> = [
        "age", "alt-svc", "cf-cache-status", "cf-ray", "connection", "content-encoding", "content-length", "date",
        "etag",
        "expires", "keep-alive", "last-modified", "nel", "report-to", "request-id", "server", "server-timing",
        "transfer-encoding", "via", "x-amz-cf-id", "x-amz-cf-pop", "x-amz-request-id", "x-amzn-trace-id", "x-cache",
        "x-correlation-id", "x-powered-by", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id",
        "x-response-time", "x-runtime", "x-served-by", "x-timer", "x-trace-id", "traceparent", "tracestate",
    ]

    /// Values of JSON that are passed over, with all that they hold. None by default.
    public var ignoredPaths: [JSONPath] = []
    /// Arrays whose elements are not matched by their order; of several rules for an array the first counts. All others
    /// are compared in order, and components of Beagle, wherever they are, by type and `id`.
    public var arrays: [ArrayRule] = []
    /// How far numbers may be apart, as a part of the larger one, or of 1 where both are smaller: `1e-9`. 0 by default.
    public var tolerance = 0.0
    /// Whether values may be any others of their kind, and arrays of any length. No by default.
    public var comparesTypesOnly = false
    /// Header fields that are passed over, in any case; `unsteadyHeaders` by default.
    public var ignoredHeaders = Self.unsteadyHeaders
    /// What is secret, and not shown.
    public var redactor = Redactor()
    /// How many differences of an answer are told one by one; the rest is counted. 100.
    public var limit = 100

    /// Rules with the documented defaults.
    public init() {}
}
