import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A recording with a body file that is missing, truncated or changed.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct MissingBodyTests {
    enum Damage: CaseIterable {
        case removed, cutOff, changed

        func happen(to file: String) throws {
            switch self {
            case .removed: try FileManager.default.removeItem(atPath: file)
            case .cutOff: try Data("hel".utf8).write(to: URL(fileURLWithPath: file))
            case .changed: try Data("hullo".utf8).write(to: URL(fileURLWithPath: file))
            }
        }
    }

    /// Runs `body` with a recording whose response body file is damaged.
    private func withHarm(_ harm: Damage, _ body: (Recording) async throws -> Void) async throws {
        try await LogFindingsTests.withLog { path, file in
            try harm.happen(to: file)
            try await body(try Recording(contentsOf: path))
        }
    }

    @Test(arguments: Damage.allCases, [TransferRequest.Delivery.collect, .stream])
    func damagedBodyIsNotReplayed(_ harm: Damage, _ delivery: TransferRequest.Delivery) async throws {
        try await withHarm(harm) { recording in
            var message = Exchanges.message("GET", "https://a.example/")
            message.body = HTTPBody("sent")
            message.head.headerFields[.contentType] = "text/plain"
            message.delivery = delivery
            await #expect {
                let response = try await ReplayTransport(recording).perform(message)
                _ = try await response.body.collect()
            } throws: { error in
                // Not phase `.file`, which means writing a file.
                (error as? NetworkError)?.kind == .file && (error as? NetworkError)?.phase == .build
            }
        }
    }

    @Test(arguments: Damage.allCases) func serverReturns501ForADamagedBody(_ harm: Damage) async throws {
        try await withHarm(harm) { recording in
            let server = try RecordedServer(recording)
            var request = TransferRequest(
                HTTPRequest(
                    method: .get,
                    scheme: "http",
                    authority: String(server.url.dropFirst("http://".count)),
                    path: "/"
                )
            )
            request.body = HTTPBody("sent")
            request.head.headerFields[.contentType] = "text/plain"
            let response = try await CurlTransport().perform(request)
            #expect(response.head.status.code == 501)
            let reason = String(decoding: response.body.data ?? Data(), as: UTF8.self)
            #expect(reason.contains(harm == .removed ? "No such file" : "damaged"), "\(reason)")
        }
    }

    @Test(arguments: Damage.allCases) func damagedBodyHasNoData(_ harm: Damage) async throws {
        try await withHarm(harm) { recording in
            let body = try #require(recording.entries.first?.response?.body)
            #expect(throws: NetworkError.self) { try recording.data(of: body) }
            #expect(recording.damage(of: body)?.kind == .file)
            #expect(recording.damage(of: recording.entries.first?.request.body) == nil)
        }
    }

    @Test(arguments: Damage.allCases) func logCheckReportsADamagedBody(_ harm: Damage) async throws {
        try await withHarm(harm) { recording in
            let directory = try #require(recording.directory)
            var findings: [Recording.Warning] = []
            let summary = try RequestLog.Reader(directory: directory).check { findings.append($0) }
            #expect(summary.entries == 1)
            #expect(summary.errors == 1)
            #expect(findings.map(\.path) == ["$.log.entries[0].response.content._file"])
        }
    }

    @Test func logCheckReportsNothingForAnIntactLog() async throws {
        try await LogFindingsTests.withLog { path, _ in
            let summary = try RequestLog.Reader(directory: path).check { Issue.record($0) }
            #expect(summary.entries == 1 && summary.bodies == 2 && summary.errors == 0)
            try LogFindingsTests.append("\n{\"k\":\"en", path)
            #expect(try RequestLog.Reader(directory: path).check { _ in }.errors == 1)
        }
    }
}
