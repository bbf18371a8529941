import CBeagleNetCurl
import Foundation
import Testing

/// A run against another libcurl than the system's must not be one against the system's by mistake.
struct LibcurlTests {
    /// `BEAGLENET_LIBCURL` names the version that is meant; any is right without it.
    @Test func libcurlIsTheOneThatIsMeant() throws {
        let version = String(cString: try #require(curl_version_info(CURLVERSION_FIRST)).pointee.version)
        print("libcurl \(version)")
        #expect(version == ProcessInfo.processInfo.environment["BEAGLENET_LIBCURL", default: version])
    }
}
