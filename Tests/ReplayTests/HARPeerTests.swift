import BeagleNetCurl
import BeagleNetHTTP
import CurlPeers
import Foundation
import Testing

@testable import BeagleNetReplay

/// Our archives, read by other programs: PyPI packages that `scripts/setup.sh --peers` installs.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct HARPeerTests {
    /// Bodies of every kind, and a request that failed.
    private static let recording: Recording = {
        // mitmproxy treats a body as text if it begins mostly with text, and writes it in another charset.
        let bytes = Data((0...255).reversed().map { UInt8($0) })
        let bodies: [(type: String, body: Data)] = [
            ("text/plain; charset=utf-8", Data("téxt \u{2028}\r\n\"\\ 😀".utf8)),
            ("application/json", Data(#"{"a":1.10,"é":"\u0000"}"#.utf8)), ("application/octet-stream", bytes),
            ("image/png", Data([0x89, 0x50])), ("text/plain; charset=utf-8", Data()),
            ("text/html; charset=utf-8", Data(String(repeating: "<p>ä</p>", count: 20_000).utf8)),
        ]
        var entries = bodies.enumerated().map { index, body in
            LogEntry(
                started: Date(timeIntervalSince1970: 1_795_335_330 + Double(index) / 8),
                request: LogEntry.Request(
                    method: index.isMultiple(of: 2) ? "POST" : "GET",
                    url: "https://api.example.com/\(index)?q=%C3%A9",
                    httpVersion: index == 0 ? "h2" : "http/1.1",
                    fields: [
                        LogEntry.Field("Host", "api.example.com"), LogEntry.Field("Cookie", "a=b"),
                        // Without a charset, mitmproxy reads and writes the text as Latin-1.
                        LogEntry.Field("Content-Type", "text/plain; charset=utf-8"),
                    ],
                    body: index.isMultiple(of: 2) ? LogEntry.Body(.data(Data("a=\(index)&b=é".utf8))) : nil
                ),
                response: LogEntry.Response(
                    status: 200 + index,
                    httpVersion: "HTTP/1.1",
                    fields: [
                        LogEntry.Field("Content-Type", body.type), LogEntry.Field("Set-Cookie", "a=1"),
                        LogEntry.Field("Set-Cookie", "b=2"),
                    ],
                    body: LogEntry.Body(.data(body.body), mediaType: body.type)
                ),
                timings: LogEntry.Timings(connect: .milliseconds(2), wait: .microseconds(1_500)),
                serverAddress: "127.0.0.1",
                connection: "1"
            )
        }
        entries.append(
            LogEntry(
                started: Date(timeIntervalSince1970: 1_795_335_340),
                request: LogEntry.Request(method: "GET", url: "http://api.example.com/failed"),
                error: "timeout"
            )
        )
        return Recording(entries)
    }()

    @Test(.enabled(if: PythonPeers.hasMitmproxy, "mitmproxy is not installed: scripts/setup.sh --peers"))
    func mitmproxyRoundTripKeepsTheEntries() async throws {
        try await withFolder { folder in
            let (ours, theirs) = ("\(folder)/ours.har", "\(folder)/theirs.zhar")
            try Self.recording.writeHAR(to: ours)
            let arguments = ["-n", "-r", ours, "--set", "hardump=\(theirs)", "--set", "confdir=\(folder)"]
            let run = try await PythonPeers.run("mitmdump", arguments)
            #expect(run.status == 0, "\(run.output)")
            let read = try Recording(contentsOf: theirs)
            #expect(read.entries.map(\.request.method) == Self.recording.entries.map(\.request.method))
            #expect(read.entries.map(\.request.url) == Self.recording.entries.map(\.request.url))
            #expect(read.entries.map(\.response?.status) == Self.recording.entries.map { $0.response?.status ?? 0 })
            for (index, pair) in zip(read.entries, Self.recording.entries).enumerated() {
                if let body = pair.1.response?.body {
                    #expect(
                        try read.data(of: try #require(pair.0.response?.body)) == (try read.data(of: body)),
                        "\(index)"
                    )
                }
                let empty = LogEntry.Body.Content.data(Data())
                let bodies = [pair.0, pair.1].map { $0.request.body?.content ?? empty }
                #expect(bodies[0] == bodies[1])
            }
        }
    }

    @Test(.enabled(if: PythonPeers.hasMitmproxy, "mitmproxy is not installed: scripts/setup.sh --peers"))
    func mitmproxyReplaysOurArchiveLikeTheServer() async throws {
        try await EveryKind.withLog { log in
            let archive = "\(log).har"
            try EveryKind.archive(of: log, to: archive)
            let peer = try await ReplayingProxy(archive, in: log)
            try #require(peer.port > 0, "\(peer.notes)")
            var options = TransferOptions(redirects: .init(limit: 0))
            options.proxy = .through(Proxy(.http, host: "127.0.0.1", port: peer.port))
            let transport = CurlTransport()
            let recording = try Recording(contentsOf: archive)
            var requestCount = 0
            // In recorded order, because mitmproxy replays each response once.
            for entry in recording.entries where entry.isAnswered {
                let request = try TransferRequest(entry.request, of: recording, options)
                let answer = try await transport.perform(request)
                let recorded = try #require(entry.response)
                #expect(answer.head.status.code == recorded.status, "\(entry.request.url)")
                // The body of a followed redirect isn't read.
                let isRead = recorded.body.content != .omitted("not read")
                let body = isRead ? try recording.data(of: recorded.body) : Data()
                #expect(try await answer.body.collect() == body, "\(entry.request.url)")
                let cookies = answer.head.headerFields[values: .setCookie]
                #expect(cookies == recorded.fields.filter { $0.name.lowercased() == "set-cookie" }.map(\.value))
                requestCount += 1
            }
            #expect(requestCount > 8)
            let unknown = LogEntry.Request(method: "GET", url: "http://a.example/unknown")
            let answer = try await transport.perform(TransferRequest(unknown, of: recording, options))
            #expect(answer.head.status == .notFound)
        }
    }

    @Test(.enabled(if: PythonPeers.hasHaralyzer, "haralyzer is not installed: scripts/setup.sh --peers"))
    func haralyzerReadsOurArchive() async throws {
        try await withFolder { folder in
            let path = "\(folder)/ours.har"
            try Self.recording.writeHAR(to: path)
            let program = """
                import json, sys
                from haralyzer import HarParser, HarEntry
                parser = HarParser(json.load(open(sys.argv[1], encoding="utf-8")))
                for entry in map(HarEntry, parser.har_data["entries"]):
                    print(entry.request.method, entry.response.status, entry.time, entry.startTime.year)
                """
            let run = try await PythonPeers.run("python3", ["-c", program, path])
            #expect(run.status == 0, "\(run.output)")
            let lines = run.output.split(separator: "\n")
            #expect(lines.count == Self.recording.entries.count)
            #expect(lines.first == "POST 200 3.5 2026")
        }
    }
}

extension LogEntry {
    /// Whether the entry has a response that a server sent over HTTP.
    fileprivate var isAnswered: Bool { response != nil && error == nil && !isFromStore && messages.isEmpty }
}

extension TransferRequest {
    /// Creates the request that was logged.
    fileprivate init(_ logged: LogEntry.Request, of recording: Recording, _ options: TransferOptions) throws {
        let url = try #require(URL(string: logged.url))
        let head = HTTPRequest(
            method: try #require(HTTPRequest.Method(rawValue: logged.method)),
            scheme: url.scheme,
            authority: url.host().map { host in url.port.map { "\(host):\($0)" } ?? host },
            path: url.path()
        )
        let body = try logged.body.map { HTTPBody(try recording.data(of: $0)) }
        self.init(head, body: body, options: options)
    }
}
