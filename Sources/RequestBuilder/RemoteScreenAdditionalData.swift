/// What a reference to a remote screen says beside its URL.
///
/// The headers of every conforming type are sent; method and body come from `HttpAdditionalData`.
public protocol RemoteScreenAdditionalData: Sendable {
    /// The type to use over HTTP.
    typealias Http = HttpAdditionalData

    /// Headers to send with the request.
    var headers: [String: String] { get set }
}
