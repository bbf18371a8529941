import BeagleNet
import BeagleNetReplay
import Foundation

/// The steps of `beagle demo`. Each uses one feature of the library, checks the result, and reports measured figures.
final class DemoRun: Sendable {
    let console: Console
    private let isSilent: Bool
    private let reportedSteps = Lock<[JSONValue]>([])

    init(console: Console, isSilent: Bool) {
        self.console = console
        self.isSilent = isSilent
    }

    /// The steps reported so far, for `--json`.
    var steps: [JSONValue] { reportedSteps.withLock { $0 } }

    /// Runs all steps, and records their requests.
    ///
    /// - Throws: `Failure` as soon as a step doesn't do what it should.
    func run(backend url: String, cancels: Int, log: RequestLog) async throws {
        let answers = Answers([])
        let dependencies = dependencies(url, keeping: answers)
        dependencies.requestLog = log
        try await Beagle.Scope(dependencies).run {
            report("backend", url, nil, "listening on this machine")
            try await sendRequests()
            await log.flush()
            try await replay(log, of: url, answers.withLock { $0 })
            try await replaceClient()
            try await cancel(cancels)
        }
    }

    private typealias Answers = Lock<[Data]>

    private func dependencies(_ url: String, keeping answers: Answers) -> BeagleDependencies {
        let dependencies = BeagleDependencies()
        dependencies.environment = BeagleEnvironment(name: "demo", baseURL: URL(string: url))
        dependencies.logger = .off
        dependencies.interceptors.add(
            ResponseInterceptor { message, next in
                do {
                    let response = try await next(message)
                    answers.withLock { $0.append(response.data) }
                    return response
                } catch let error as NetworkError {
                    // An error response is a response too.
                    answers.withLock { $0.append(error.data ?? Data()) }
                    throw error
                }
            }
        )
        return dependencies
    }

    private var client: any NetworkClient { Beagle.dependencies.networkClient }

    // MARK: - Steps

    /// Sends the requests that are also replayed from the recording.
    private func sendRequests() async throws {
        try await fetch()
        try await image()
        try await submit()
        try await raw()
    }

    private func fetch() async throws {
        let (tree, time) = try await timed {
            let screen = try await client.fetch("/home", as: JSONValue.self)
            return try ComponentTree(parsing: screen.data())
        }
        let summary = tree.summary
        try check(summary.components > 5 && summary.images > 0 && summary.forms > 0, "/home has images and a form")
        report("fetch", "/home", time, "\(tree.root.name), \(summary.components) components, \(tree.summaryLine)")
    }

    private func image() async throws {
        let (response, time) = try await timed { try await client.image("/img/banner.png") }
        try check(response.data.starts(with: [0x89, 0x50, 0x4E, 0x47]), "/img/banner.png is a PNG")
        let type = try expect(response.response.headerFields[single: .contentType], "the image has a type")
        report("image", "/img/banner.png", time, "\(type), \(byteCount(Int64(response.data.count)))")
    }

    private func submit() async throws {
        let form = Form([Form.Input("name", "Ana", isRequired: true), Form.Input("email", "x", isRequired: true)])
        let (refusal, time) = try await timed { try await client.submit(form, to: "/signup") }
        try check(refusal.response?.status.code == 422, "an invalid address is refused with 422")
        let error = try expect(refusal.errors.first, "the refusal names a field")
        report("submit", "/signup", time, "422  \(error.field ?? "") \(error.message)")

        form["email"] = "ana@example.com"
        let (created, again) = try await timed { try await client.submit(form, to: "/signup") }
        try check(created.response?.status.code == 201, "a valid address is accepted with 201")
        let id = try expect(created.response?.json()["id"]?.integer, "the response has an id")
        report("submit", "/signup", again, "201  id \(id)")
    }

    private func raw() async throws {
        let url = try expect(Beagle.dependencies.urlBuilder.build(path: "/echo?a=1"), "/echo resolves to a URL")
        let data = Request.RequestData(method: "PUT", headers: ["X-Demo": "yes"], body: .json(["b": 2]))
        let (response, time) = try await timed {
            try await client.executeRequest(Request(url: url, type: .rawRequest(data)))
        }
        let echo = try response.json()
        try check(echo["method"] == "PUT" && echo["query"] == "a=1", "the server receives method and query as sent")
        try check(
            echo["body"] == "{\"b\":2}" && echo["headers"]?["X-Demo"] == "yes",
            "the server receives body and header as sent"
        )
        report("raw", "PUT /echo?a=1", time, "the server received method, query, header and body as sent")
    }

    private func replaceClient() async throws {
        let before = client
        Beagle.dependencies.networkClient = StubClient { _ in try NetworkResponse(json: ["stub": true]) }
        let (stubbed, time) = try await timed { try await client.fetch("/home", as: JSONValue.self) }
        try check(stubbed == ["stub": true], "the stub responds instead of the client")
        Beagle.dependencies.networkClient = before
        let (real, _) = try await timed { try await client.fetch("/home", as: JSONValue.self) }
        try check(ParsedScreen(parsing: real.data()).isScreen, "the client is restored")
        report("swap", "/home", time, "a StubClient responded instead of the client, which was then restored")
    }

    /// Repeats the requests against the recording, and compares the responses.
    private func replay(_ log: RequestLog, of url: String, _ live: [Data]) async throws {
        let answers = Answers([])
        let dependencies = dependencies(url, keeping: answers)
        let client = ReplayClient(try Recording(contentsOf: log.directory), dependencies: dependencies)
        dependencies.networkClient = client
        let again = DemoRun(console: console, isSilent: true)
        let (_, time) = try await timed { try await Beagle.Scope(dependencies).run { try await again.sendRequests() } }
        try check(answers.withLock { $0 } == live, "the recorded responses match those of the backend")
        try client.assertAllUsed()
        report(
            "replay",
            "\(live.count) requests",
            time,
            "replayed from the recording: same responses, byte for byte"
        )
    }

    private func cancel(_ count: Int) async throws {
        let url = try expect(Beagle.dependencies.urlBuilder.build(path: "/home"), "/home resolves to a URL")
        let client = client
        let (outcomes, time) = try await timed { await CancelStorm.run(count, of: url, with: client) }
        try Task.checkCancellation()
        try check(outcomes.completions.allSatisfy { $0 == 1 }, "each request completes exactly once")
        try check(outcomes.failed == 0, "requests fail only by cancellation")
        let ends = "\(outcomes.cancelled) cancelled, \(outcomes.answered) answered"
        report("cancel", "\(count) requests", time, "\(outcomes.completions.reduce(0, +)) completions: \(ends)")
    }

    // MARK: - Reporting

    private func timed<R>(_ body: () async throws -> R) async throws -> (R, Duration) {
        let start = ContinuousClock.now
        let result = try await body()
        return (result, start.duration(to: .now))
    }

    private func check(_ condition: Bool, _ what: String) throws {
        _ = try expect(condition ? () : nil, what)
    }

    private func expect<T>(_ value: T?, _ what: String) throws -> T {
        if let value { return value }
        throw Failure(exit: 1, code: "check", phase: .response, "a check of the demo failed: \(what)")
    }

    private func report(_ step: String, _ what: String, _ time: Duration?, _ result: String) {
        let milliseconds = time.map { JSONValue.number($0.milliseconds) }
        let number = reportedSteps.withLock { reportedSteps in
            reportedSteps.append([
                "step": .string(step), "what": .string(what), "ms": milliseconds ?? nil, "result": .string(result),
            ])
            return reportedSteps.count
        }
        guard !isSilent else { return }
        let duration = time.map { "\(oneDecimal($0.milliseconds)) ms" } ?? ""
        let columns = "\(number)  \(padded(step, 8)) \(padded(what, 24)) \(padded(duration, 10))"
        console.line("\(console.styled(columns, .bold)) \(result)")
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
