import CBeagleNetCurl
import Foundation
import Testing

/// Whether libcurl is of version 8 or newer, where the tests meet faults that 7.88 does not have.
let isLibcurl8 = (curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0) >= 0x08_00_00

/// A run against another libcurl than the system's must not be one against the system's by mistake.
struct LibcurlTests {
    /// `BEAGLENET_LIBCURL` names the version that is meant; any is right without it.
    @Test func libcurlIsTheOneThatIsMeant() throws {
        let version = String(cString: try #require(curl_version_info(CURLVERSION_FIRST)).pointee.version)
        print("libcurl \(version)")
        #expect(version == ProcessInfo.processInfo.environment["BEAGLENET_LIBCURL", default: version])
    }
}
