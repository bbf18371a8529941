import BeagleNet
import Testing

@testable import BeagleNetURLSession

struct RefusalTests {
    typealias Change = @Sendable (inout TransferOptions) -> Void

    static let options: [(String, Change)] = [
        ("trust", { $0.trust = .native }), ("identity", { $0.identity = TLS.Identity(certificatePath: "a") }),
        ("minimumTLS", { $0.minimumTLS = .tls13 }), ("ciphers", { $0.ciphers.tls12 = ["A"] }),
        ("usesEarlyData", { $0.usesEarlyData = true }), ("proxy", { $0.proxy = .direct }),
        ("unixSocket", { $0.unixSocket = "a" }), ("ipVersion", { $0.ipVersion = .v4 }),
        ("overrides", { $0.overrides = [TransferOptions.HostOverride(host: "a", address: "::1")] }),
        ("local", { $0.local.interface = "a" }), ("codings", { $0.codings = [] }),
        ("addressGuard", { $0.addressGuard = .publicOnly }),
    ]

    @Test(arguments: options) func errorNamesTheUnsupportedOption(_ name: String, _ change: Change) {
        var options = TransferOptions()
        #expect(options.unsupportedOptionError == nil)
        change(&options)
        #expect(options.unsupportedOptionError?.kind == .unsupported)
        #expect(options.unsupportedOptionError?.message.hasSuffix("TransferOptions.\(name)") == true)
    }
}
