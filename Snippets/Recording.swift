// Records requests without secrets, replays them, and sends them to another server.
import BeagleNet
import BeagleNetReplay
import BeagleNetTesting
import Testing

func record(_ dependencies: BeagleDependencies) throws {
    // snippet.record
    dependencies.requestLog = try RequestLog(directory: "session.bglog")
    // snippet.end
}

func switches(_ dependencies: BeagleDependencies) throws {
    // snippet.switches
    try dependencies.allow([.log, .replay])
    // snippet.end
}

func demo(_ dependencies: BeagleDependencies) throws {
    // snippet.replay
    dependencies.networkClient = ReplayClient(
        try Recording(contentsOf: "session.bglog"),
        matching: [.method, .path, .query(ignoring: ["ts"]), .body],
        dependencies: dependencies
    )
    // snippet.end
}

struct Screen: Decodable {
    let title: String
}

// snippet.trait
@Test(.recording("greeting"))
func theScreenHasATitle() async throws {
    let screen = try await Beagle.dependencies.networkClient.fetch("https://example.com/home", as: Screen.self)
    #expect(screen.title == "Hello")
}
// snippet.end

func server() throws {
    // snippet.server
    let server = try RecordedServer(try Recording(contentsOf: "browser.har"), timing: .recorded(scale: 0.5))
    print("serving at \(server.url)")
    // snippet.end
}

func compare(_ recording: Recording) async throws {
    // snippet.compare
    var reissuer = Reissuer(to: try Reissuer.Target("https://staging.example.com"))
    reissuer.rules.ignoredPaths = [try JSONPath("$..timestamp")]
    reissuer.headers = [Reissuer.HeaderMapping(.authorization, "Bearer of staging")]
    let report = try await reissuer.compare(recording)
    #expect(report.isSame, "\(report)")
    // snippet.end
}

func export(_ recording: Recording) throws {
    // snippet.export
    try recording.writeHAR(to: "session.har")
    try Recording.HTMLReport(recording, title: "session").page().write(to: URL(fileURLWithPath: "session.html"))
    // snippet.end
}
