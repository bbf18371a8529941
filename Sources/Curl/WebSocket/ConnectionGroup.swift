import CBeagleNetCurl

/// The connections of a few WebSockets: whenever libcurl sends or receives for a handle, it looks for the connection among
/// all that are kept with it, and that would be those of all WebSockets. Reached only on the loop's thread.
final class ConnectionGroup {
    /// Many enough to cost little memory, few enough to be looked through.
    private static let size = 16

    let pointer: UnsafeMutableRawPointer
    private var places = size

    /// nil where there is no memory.
    init?() {
        guard let pointer = curl_share_init() else { return nil }
        self.pointer = pointer
        guard beagle_share_connections(pointer) == CURLSHE_OK else { return nil }
    }

    deinit {
        curl_share_cleanup(pointer)
    }

    /// Whether there was a place for another; it is not given twice.
    func takePlace() -> Bool {
        defer { places -= 1 }
        return places > 0
    }
}
