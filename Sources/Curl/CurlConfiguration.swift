public import BeagleNetHTTP

/// What all transfers of a `CurlTransport` share. Each value has a default.
///
/// A value out of its range is no crash and no other value: `validate()` throws, and so does each transfer.
public struct CurlConfiguration: Sendable {
    /// Connections kept open while nothing uses them, in 1...100,000. 256: well below the usual limit of open files.
    /// https://curl.se/libcurl/c/CURLMOPT_MAXCONNECTS.html
    public var maxIdleConnections = 256

    /// The documented defaults.
    public init() {}

    /// Finds a value that cannot be used.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` that names the property and its range.
    public func validate() throws(NetworkError) {
        guard (1...100_000).contains(maxIdleConnections) else {
            throw .badConfiguration("maxIdleConnections", "is \(maxIdleConnections)", "take a number in 1...100000")
        }
    }
}

extension NetworkError {
    static func badConfiguration(_ property: String, _ problem: String, _ advice: String) -> NetworkError {
        NetworkError(.badConfiguration, during: .build, "CurlConfiguration.\(property) \(problem)", advice: advice)
    }
}
