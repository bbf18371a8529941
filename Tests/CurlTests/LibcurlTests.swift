import CBeagleNetCurl
import Foundation
import Testing

/// Whether libcurl is version 8 or newer. It has bugs that 7.88 doesn't have.
let isLibcurl8 = (curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0) >= 0x08_00_00

/// Makes sure that a run against another libcurl doesn't use the system's libcurl by mistake.
struct LibcurlTests {
    /// `BEAGLENET_LIBCURL` names the expected version. Any version passes if it isn't set.
    @Test func libcurlHasTheExpectedVersion() throws {
        let version = String(cString: try #require(curl_version_info(CURLVERSION_FIRST)).pointee.version)
        print("libcurl \(version)")
        #expect(version == ProcessInfo.processInfo.environment["BEAGLENET_LIBCURL", default: version])
    }
}
