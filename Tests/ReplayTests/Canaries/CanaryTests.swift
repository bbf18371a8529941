import BeagleNet
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Secrets at every place and in every encoding that a redactor knows are never written to any output.
@Suite(.timeLimit(.minutes(5))) struct CanaryTests {
    @Test(arguments: [LogInterceptor.Style.messages, .exchanges, .commands])
    func noSecretIsWrittenAnywhere(_ style: LogInterceptor.Style) async throws {
        try await withLogDirectory { path in
            let plants = Plant.all
            let outputs = try await CanaryOutputs(plants, style, log: path)
            // The secrets were really sent and received.
            for plant in plants {
                #expect(outputs.entries.contains { $0.request.url.contains("/\(plant.name)") }, "\(plant.name)")
            }
            #expect(outputs.sent >= plants.count / 2)
            for (name, data) in outputs.outputs {
                #expect(!data.isEmpty, "\(name)")
                #expect(Canary.forms(in: data) == [], "\(name): \(CanaryOutputs.around(data))")
            }
        }
    }

    /// The search finds secrets that are not redacted.
    @Test func secretIsFoundInEveryEncoding() {
        let secret = Canary.secret(1)
        let written = [
            secret, secret.uppercased(), Canary.percentEncoded(secret), Canary.escaped(secret),
            Data("ana:\(secret)".utf8).base64EncodedString(), Data("an:\(secret)".utf8).base64EncodedString(),
            Data("an:a\(secret)".utf8).base64EncodedString(),
        ]
        for text in written { #expect(Canary.forms(in: Data("x\(text)y".utf8)) != [], "\(text)") }
    }
}
