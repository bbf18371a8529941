import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct PrefetchCommandTests {
    @Test func storedScreensAreShownWithoutANetwork() async throws {
        try await withDirectory { directory in
            let cache = "\(directory)/cache"
            let url = try await withBackend { url in
                let run = try await beagle("prefetch", "\(url)/home", "--images", "--cache", cache)
                #expect(run.exit == 0, "\(run.errors)")
                let kinds = run.lines.dropLast().map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
                #expect(
                    kinds == [
                        "stored route", "stored image", "stored lazy", "stored image", "stored route", "stored route",
                    ]
                )
                #expect(run.lines.last?.hasSuffix("missing 0") == true, "\(run.text)")
                return url
            }
            let offline = ["--cache", cache, "--cache-mode", "cache-only"]
            let screen = try await beagle(["fetch", "\(url)/details"] + offline)
            #expect(screen.exit == 0 && screen.text == "\(DemoScreens.details)\n", "\(screen.errors)")
            let image = try await beagle(["image", "\(url)/img/logo.png", "-o", "-"] + offline)
            #expect(image.exit == 0 && !image.output.isEmpty, "\(image.errors)")
        }
    }

    @Test func imagesAndDepthAreOptional() async throws {
        try await withDirectory { directory in
            try await withBackend { url in
                let run = try await beagle(
                    "prefetch",
                    "\(url)/home",
                    "--depth",
                    "0",
                    "--cache",
                    "\(directory)/cache",
                    "--json"
                )
                #expect(run.exit == 0, "\(run.errors)")
                let stored = try run.json()["result"]?["stored"]?.array ?? []
                #expect(stored.map { $0["url"]?.string } == ["\(url)/home", "/lazy/news"])
                #expect(stored[1]["kind"] == "lazy" && (stored[1]["bytes"]?.integer ?? 0) > 100)
            }
        }
    }

    @Test func missingPartsHaveReasonsAndExitWith107() async throws {
        try await withDirectory { directory in
            try await withBackend { url in
                let arguments = ["prefetch", "\(url)/faults", "--depth", "1", "--cache", "\(directory)/cache"]
                let run = try await beagle(arguments)
                #expect(run.exit == 107)
                let missing = run.lines.filter { $0.hasPrefix("missing") }
                #expect(missing.count == 2, "\(run.text)")
                #expect(missing.contains { $0.contains("/faults/missing  ") && $0.contains("404") }, "\(run.text)")
                let report = try await beagle(arguments + ["--json"]).json()["error"]?["report"]
                let json = report?["missing"]?.array ?? []
                #expect(json.contains { $0["code"] == "status" && $0["parent"] == .string("\(url)/faults") }, "\(json)")
            }
        }
    }

    @Test func headersStayOnTheOriginAfterARedirect() async throws {
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13])
        let other = try LoopbackServer(.response(200, ["Cache-Control": "max-age=60"], png))
        let server = try LoopbackServer { request in
            if request.target == "/i" { return .response(302, ["Location": "\(other.url)/i"]) }
            return .response(200, ["Cache-Control": "max-age=60"], ScriptedSite.Page.screen(remoteImage("/i")).document)
        }
        try await withDirectory { directory in
            let cached = [
                "prefetch", "\(server.url)/", "--images", "--cache", "\(directory)/cache", "-H", "X-Tenant: 42",
            ]
            let run = try await beagle(cached)
            #expect(run.exit == 107 && run.errors.contains("--cache-user"), "\(run.text)\(run.errors)")
            let page = ["fetch", "\(server.url)/", "--html", "\(directory)/a.html", "-H", "X-Tenant: 42"]
            _ = try await beagle(page)
            #expect(server.requests.allSatisfy { $0.has("x-tenant") })
            #expect(other.requests.count >= 2)
            #expect(!other.requests.contains { $0.has("x-tenant") })
        }
    }

    @Test func credentialsStayOnTheOriginAndNeedAUser() async throws {
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13])
        let other = try LoopbackServer(.response(200, ["Cache-Control": "max-age=60"], png))
        let server = try LoopbackServer { request in
            let screen = ScriptedSite.Page.screen(remoteImage("\(other.url)/i")).document
            return .response(200, ["Cache-Control": "max-age=60"], request.target == "/" ? screen : "")
        }
        try await withDirectory { directory in
            let arguments = [
                "prefetch", "\(server.url)/", "--images", "--cache", "\(directory)/cache", "--user", "ana:s3cret", "-H",
                "X-Api-Key: 0123456789",
            ]
            let run = try await beagle(arguments)
            #expect(run.exit == 107 && run.errors.contains("--cache-user"), "\(run.text)\(run.errors)")
            #expect(try await beagle(arguments + ["--cache-user", "ana"]).exit == 0)
            #expect(server.requests.allSatisfy { $0.has("authorization") && $0.has("x-api-key") })
            #expect(!other.requests.isEmpty)
            #expect(!other.requests.contains { $0.has("authorization") || $0.has("x-api-key") })
            #expect(!(run.text + run.errors).contains("s3cret"))
        }
    }

    @Test(arguments: [
        ["http://h"], ["http://h", "--cache", "c", "--depth", "-1"], ["http://h", "--cache", "c", "-o", "x"],
        ["http://h", "--cache", "c", "--cache-mode", "http"], ["http://h", "--cache", "c", "--offline"],
    ])
    func invalidCommandLineExitsWith64(_ arguments: [String]) async throws {
        let run = try await beagle(["prefetch"] + arguments)
        #expect(run.exit == 64 && run.output.isEmpty)
    }
}
