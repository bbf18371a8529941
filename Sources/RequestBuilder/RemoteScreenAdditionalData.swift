/// What a reference to a remote screen says beside its URL.
///
/// What every conforming type says is sent, except under `Compatibility.beagle1`, which knows `HttpAdditionalData` only.
public protocol RemoteScreenAdditionalData: Sendable {
    /// The type to use over HTTP.
    typealias Http = HttpAdditionalData

    /// Headers to send with the request.
    var headers: [String: String] { get set }

    /// Method and body; nil, a GET without one, by default.
    var httpData: HttpAdditionalData.HttpData? { get }
}

extension RemoteScreenAdditionalData {
    /// A GET without a body.
    public var httpData: HttpAdditionalData.HttpData? { nil }
}
