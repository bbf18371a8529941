import BeagleNetHTTP

extension NetworkError {
    static func compression(_ message: String) -> NetworkError {
        NetworkError(.encoding, during: .file, message)
    }
}
