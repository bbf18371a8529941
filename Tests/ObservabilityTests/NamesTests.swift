import BeagleNet
import Testing

@testable import BeagleNetObservability

/// What spans and measurements call things.
@Suite struct NamesTests {
    @Test(arguments: [
        ("127.0.0.1:443", "127.0.0.1", 443), ("[::1]:8080", "::1", 8080),
    ]) func thePeerIsAddressAndPort(_ text: String, _ address: String, _ port: Int) {
        var metrics = TransferMetrics()
        metrics.remoteAddress = text
        #expect(metrics.peer?.address == address && metrics.peer?.port == port)
    }

    @Test(arguments: ["", "localhost", "[::1]"]) func whatIsNoPeerIsNone(_ text: String) {
        var metrics = TransferMetrics()
        metrics.remoteAddress = text
        #expect(metrics.peer == nil)
    }

    @Test(arguments: [("HTTP/1.1", "1.1"), ("HTTP/2", "2"), ("HTTP/3", "3"), ("", nil)])
    func theProtocolIsItsVersion(_ name: String, _ version: String?) {
        var metrics = TransferMetrics()
        metrics.protocolName = name
        #expect(metrics.protocolVersion == version)
    }

    @Test(arguments: [("example.com", "example.com"), ("[::1]", "::1")])
    func anAddressHasNoBrackets(_ host: String, _ address: String) {
        #expect(Origin(scheme: "https", host: host).address == address)
    }

    @Test func theEnvironmentNamesMethodsInThePlaceOfHTTPs() {
        #expect(KnownMethod.named(by: nil).contains("PATCH") && KnownMethod.named(by: nil).count == 9)
        #expect(KnownMethod.named(by: "") == KnownMethod.named(by: nil))
        #expect(KnownMethod.named(by: "GET, BREW,") == ["GET", "BREW"])
    }
}
