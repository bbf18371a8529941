import CBeagleNetCurl

/// Easy handles that can be used again, which costs less than creating one. Used only on the loop's thread.
///
/// Only handles of transfers that succeeded are kept, because libcurl before 8.16 doesn't reset the failure of an upload
/// (curl issue 18206).
final class SpareHandles {
    /// Whether this libcurl can use a handle again. libcurl 7.88 frees memory twice if the first header line of a reused
    /// handle is folded. 8.14.1 is the oldest later version with which our tests run.
    static let areSupported: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST) else { return false }
        return version.pointee.version_num >= 0x08_0E_01
    }()
    /// A handle takes about 6 kB.
    static let maxCount = 64

    private let areKept: Bool
    private var handles: [UnsafeMutableRawPointer] = []

    var isEmpty: Bool { handles.isEmpty }

    init(areKept: Bool = areSupported) {
        self.areKept = areKept
    }

    /// Returns a handle that has the options of a new one.
    func take() -> UnsafeMutableRawPointer? { handles.popLast() }

    /// Takes ownership of a handle that isn't in a multi handle.
    func add(_ handle: UnsafeMutableRawPointer) {
        guard areKept, handles.count < Self.maxCount else { return curl_easy_cleanup(handle) }
        curl_easy_reset(handle)
        handles.append(handle)
    }

    /// Frees all handles.
    func free() {
        for handle in handles { curl_easy_cleanup(handle) }
        handles = []
    }

    deinit { free() }
}
