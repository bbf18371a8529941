/// The data in a reference to a remote screen in addition to its URL.
///
/// The data of every conforming type is sent, except with `Compatibility.beagle1`, which supports only
/// `HttpAdditionalData`.
public protocol RemoteScreenAdditionalData: Sendable {
    /// The type to use over HTTP.
    typealias Http = HttpAdditionalData

    /// The headers of the request.
    var headers: [String: String] { get set }

    /// The method and body, or `nil`, the default, for a GET without a body.
    var httpData: HttpAdditionalData.HttpData? { get }
}

extension RemoteScreenAdditionalData {
    /// A GET without a body.
    public var httpData: HttpAdditionalData.HttpData? { nil }
}
