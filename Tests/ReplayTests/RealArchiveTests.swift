import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetReplay

/// Archives that Chromium, Playwright and mitmproxy wrote of the same small site. `Archives/README.md` describes how.
struct RealArchiveTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Archives").path

    private static let png = "89504e470d0a1a0a0000000d49484452"

    /// The names of the archives and the number of their entries.
    private static let archives = [
        ("playwright.har", 9), ("attach/playwright-attach.har", 9), ("mitmproxy.har", 9), ("mitmproxy.zhar", 9),
        ("chromium.har", 12),
    ]

    @Test(arguments: archives) func bodiesOfRealArchivesAreRead(_ name: String, _ count: Int) throws {
        let recording = try Recording(contentsOf: "\(Self.folder)/\(name)")
        #expect(recording.warnings == [])
        #expect(recording.entries.count == count)
        func body(_ path: String) throws -> Data {
            let entry = try #require(recording.entries.first { $0.request.url.contains(path) })
            return try recording.data(of: try #require(entry.response?.body))
        }
        #expect(String(decoding: try body("/page"), as: UTF8.self).hasSuffix("<p>héllo"))
        #expect(try JSONValue(parsing: try body("/data.json"))["e"] == "é😀")
        #expect(String(decoding: try body("/text"), as: UTF8.self) == "téxt \u{2028} end")
        let png = try body("/a.png").prefix(16).map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined()
        #expect(png == Self.png)
        #expect(recording.entries.filter { ($0.response?.status ?? 0) <= 0 }.count == 1)
        let redirect = recording.entries.first { $0.response?.status == 302 }?.response
        #expect(redirect?.fields["location"] == "/page")
        let cookies = recording.entries.first { $0.request.url.contains("/data") }?.response?.fields
        #expect(
            cookies?.filter { $0.name.lowercased() == "set-cookie" }.map(\.value) == ["a=1; Path=/; HttpOnly", "b=2"]
        )
    }

    @Test func formSentByAPageIsRead() throws {
        for name in ["playwright.har", "attach/playwright-attach.har", "chromium.har"] {
            let recording = try Recording(contentsOf: "\(Self.folder)/\(name)")
            let form = try #require(recording.entries.first { $0.request.url.hasSuffix("/form") }?.request.body)
            let data = try recording.data(of: form)
            #expect(String(decoding: data, as: UTF8.self) == "a=1+2&b=%C3%A9")
        }
    }

    @Test func chromiumDetailsAreRead() throws {
        let recording = try Recording(contentsOf: "\(Self.folder)/chromium.har")
        func entry(_ path: String, _ status: Int = 200) throws -> LogEntry {
            try #require(recording.entries.first { $0.request.url.contains(path) && $0.response?.status == status })
        }
        #expect(try entry("/refused", 0).error == "net::ERR_CONNECTION_REFUSED")
        let unchanged = try #require(try entry("/text", 304).response)
        #expect(unchanged.bodyBytes == 0 && unchanged.body.size > 0)
        let zipped = try #require(try entry("/data.json").response)
        #expect(zipped.fields["content-encoding"] == "gzip" && zipped.bodyBytes < zipped.body.size)
        let messages = try entry("/echo", 101).messages
        #expect(messages.map(\.direction) == [.send, .send, .receive, .receive])
        #expect(messages.map(\.data) == [Data("hé".utf8), Data([0, 255]), Data("hé".utf8), Data([0, 255])])
        let started = try entry("/echo", 101).started
        #expect(messages.allSatisfy { abs($0.time.timeIntervalSince(started)) < 10 })
        for entry in recording.entries {
            let names = Set(entry.unknownMembers.map(\.name))
            #expect(
                names.isSuperset(of: ["_initiator", "_priority", "_resourceType", "_transferSize", "_blocked_queueing"])
            )
            let phases = entry.timings
            #expect(phases.blocked != nil && phases.send != nil && phases.wait != nil && phases.receive != nil)
        }
    }

    @Test(arguments: archives) func conversionKeepsAllEntriesAndMembers(_ name: String, _ count: Int) async throws {
        try await withFolder { folder in
            func texts(_ path: String) throws -> [[UInt8]] {
                let reader = HARReader(contentsOf: path)
                var texts: [[UInt8]] = []
                while let next = try reader.next() { texts.append(next.json ?? []) }
                return texts
            }
            let (source, target) = ("\(Self.folder)/\(name)", "\(folder)/a.har.gz")
            let reader = HARReader(contentsOf: source)
            let writer = try HARWriter(to: target)
            while let next = try reader.next() { try writer.write(next) }
            try writer.finish(members: reader.members)
            #expect(writer.warnings == [])
            let back = HARReader(contentsOf: target)
            while try back.next() != nil {}
            #expect(back.members == reader.members)
            // Except entries with body files, which are embedded in the archive now.
            let isAttached = name.contains("attach")
            let (old, new) = (try texts(source), try texts(target))
            #expect(zip(old, new).count { $0 == $1 } == (isAttached ? 2 : count))
            let recording = try Recording(contentsOf: target)
            for entry in recording.entries {
                if case .file(let name)? = entry.response?.body.content {
                    Issue.record("\(name) is not in the archive")
                }
            }
        }
    }
}
