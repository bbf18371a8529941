import BeagleNetHTTP

/// Tells a file that cannot be read from one that cannot be written: they end a command with different codes.
@discardableResult
func reading<R>(_ work: () throws(NetworkError) -> R) throws(NetworkError) -> R {
    do throws(NetworkError) {
        return try work()
    } catch {
        var error = error
        if error.kind == .file { error.phase = .build }
        throw error
    }
}
