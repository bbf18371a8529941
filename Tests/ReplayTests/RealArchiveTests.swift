import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetReplay

/// Archives that Chromium (through Playwright) and mitmproxy have written of the same small site.
@Suite struct RealArchiveTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Archives").path

    private static let png = "89504e470d0a1a0a0000000d49484452"

    @Test(arguments: ["playwright.har", "attach/playwright-attach.har", "mitmproxy.har", "mitmproxy.zhar"])
    func bodiesAreThere(_ name: String) throws {
        let recording = try Recording(contentsOf: "\(Self.folder)/\(name)")
        #expect(recording.warnings == [])
        #expect(recording.entries.count == 9)
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

    @Test func whatAPageSentIsThere() throws {
        for name in ["playwright.har", "attach/playwright-attach.har"] {
            let recording = try Recording(contentsOf: "\(Self.folder)/\(name)")
            let form = try #require(recording.entries.first { $0.request.url.hasSuffix("/form") }?.request.body)
            let data = try recording.data(of: form)
            #expect(String(decoding: data, as: UTF8.self) == "a=1+2&b=%C3%A9")
        }
    }

    @Test(arguments: ["playwright.har", "attach/playwright-attach.har", "mitmproxy.har", "mitmproxy.zhar"])
    func conversionLosesNothing(_ name: String) async throws {
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
            // But for the bodies in files, which are in the archive now.
            let isAttached = name.contains("attach")
            let (old, new) = (try texts(source), try texts(target))
            #expect(zip(old, new).count { $0 == $1 } == (isAttached ? 2 : 9))
            let recording = try Recording(contentsOf: target)
            for entry in recording.entries {
                if case .file(let name)? = entry.response?.body.content {
                    Issue.record("\(name) is not in the archive")
                }
            }
        }
    }
}
