public import BeagleNet

/// The rules that determine which differences between a recorded and a received response count.
///
/// JSON values are compared by their meaning. The order of members, whitespace, and the notation of strings and numbers
/// don't matter. `1`, `1.0` and `1e0` are equal, and numbers beyond the precision of a `Double` are compared digit by
/// digit. A recorded `REDACTED` matches any value.
public struct ComparisonRules: Sendable, Hashable {
    /// The way in which the elements of two arrays are matched.
    public enum ArrayOrder: Sendable, Hashable {
        /// By a member that identifies an element, such as `id`.
        ///
        /// An element at another index has moved.
        case key(String)
        /// As a set, regardless of order.
        ///
        /// An element without an equal is compared with up to 64 other unmatched elements.
        case set
    }

    /// A rule for matching the elements of an array.
    public struct ArrayRule: Sendable, Hashable {
        /// The path of the array.
        public var path: JSONPath
        /// The way in which its elements are matched.
        public var order: ArrayOrder

        /// Creates a rule for an array.
        public init(_ path: JSONPath, _ order: ArrayOrder) {
            self.path = path
            self.order = order
        }
    }

    /// The header fields that differ between responses or servers without being significant.
    public static let volatileHeaders: Set<String> = [
        "age", "alt-svc", "cf-cache-status", "cf-ray", "connection", "content-encoding", "content-length", "date",
        "etag",
        "expires", "keep-alive", "last-modified", "nel", "report-to", "request-id", "server", "server-timing",
        "transfer-encoding", "via", "x-amz-cf-id", "x-amz-cf-pop", "x-amz-request-id", "x-amzn-trace-id", "x-cache",
        "x-correlation-id", "x-powered-by", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id",
        "x-response-time", "x-runtime", "x-served-by", "x-timer", "x-trace-id", "traceparent", "tracestate",
    ]

    /// The JSON values that are ignored, including everything in them; empty by default.
    public var ignoredPaths: [JSONPath] = []
    /// The rules for arrays whose elements are not matched in order; the first rule for an array applies.
    ///
    /// Other arrays are compared in order, except for arrays of Beagle components, which are matched by type and `id`.
    public var arrays: [ArrayRule] = []
    /// The maximum relative difference of equal numbers, such as `1e-9`; 0 by default.
    ///
    /// It is relative to the larger number, or to 1 if both are smaller.
    public var tolerance = 0.0
    /// Whether only the types of values are compared, and arrays may have any length; false by default.
    public var comparesTypesOnly = false
    /// The header fields that are ignored, in any case; `volatileHeaders` by default.
    public var ignoredHeaders = Self.volatileHeaders
    /// The redactor, which removes secrets from reported values.
    public var redactor = Redactor()
    /// The maximum number of reported differences per response, 100 by default; further ones are only counted.
    public var limit = 100

    /// Creates rules with the documented defaults.
    public init() {}
}
