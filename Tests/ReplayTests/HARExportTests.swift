import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Archives that deviate from HAR 1.2 are written again as valid HAR 1.2.
struct HARExportTests {
    /// Reads an archive with one entry, writes it again, validates it and returns the written entry.
    private func exported(_ changes: [String: String]) async throws -> JSONNode {
        let read = try await entry(changes)
        return try await withFolder { folder in
            let path = "\(folder)/a.har"
            try Recording([read]).writeHAR(to: path)
            try HARReader.Validator(contentsOf: path).validate { #expect($0.severity == .hint, "\($0)") }
            let written = try #require(try HARReader(contentsOf: path).next()?.json)
            return try ParsedJSON(written).root
        }
    }

    @Test func aFragmentIsNeverWritten() async throws {
        let url = #""http://a/x#f""#
        #expect(try await exported(["request.url": url])["request"]?["url"]?.string == "http://a/x")
        let items = ["request.url": url, "request.queryString": #"[{"name":"q","value":"1"}]"#]
        #expect(try await entry(items).request.url == "http://a/x?q=1#f")
        #expect(try await exported(items)["request"]?["url"]?.string == "http://a/x?q=1")
    }

    @Test func invalidCacheMemberIsRenamed() async throws {
        let cache = #"{"afterRequest":{"expires":"4294967295","eTag":"","hitCount":1}}"#
        let entry = try await exported(["cache": cache])
        #expect(entry["cache"]?.raw.elementsEqual("{}".utf8) == true)
        #expect(entry["_cache"]?.raw.elementsEqual(cache.utf8) == true)
        let valid = #"{"beforeRequest":null}"#
        #expect(try await exported(["cache": valid])["cache"]?.raw.elementsEqual(valid.utf8) == true)
    }

    @Test func negativeStatusIsWrittenAsZero() async throws {
        #expect(try await exported(["response.status": "-1"])["response"]?["status"]?.integer == 0)
    }

    @Test func cookieExpiryIsKept() async throws {
        let cookie = #"[{"name":"a","value":"b","path":"/","expires":"2027-01-02T03:04:05.000Z"}]"#
        let response = try await exported(["response.cookies": cookie])["response"]
        #expect(
            response?["headers"]?.elements.first { _ in true }?["value"]?.string
                == "a=b; Path=/; Expires=Sat, 02 Jan 2027 03:04:05 GMT"
        )
        #expect(response?["cookies"]?.elements.first { _ in true }?["expires"]?.string == "2027-01-02T03:04:05.000000Z")
    }

    @Test func archiveMembersAreKeptAndRedacted() async throws {
        let start = #""startedDateTime":"2026-11-22T08:15:30Z""#
        let text = archive().replacing(
            #""entries""#,
            with: #"""
                "browser":{},"comment":"c","pages":[7,{"id":"p","title":"http://a/?token=canary",\#(start),\#
                "pageTimings":{"onLoad":1.5,"onContentLoad":null}}],"_key":1,"entries"
                """#
        )
        let read = try await recording(of: text)
        func texts(_ members: [HARReader.Member]) -> [String] {
            members.map { "\($0.name)=\(String(decoding: $0.json, as: UTF8.self))" }
        }
        let creator = #"creator={"name":"test","version":"1"}"#
        let page = #"{"id":"p","title":"http://a/?token=canary",\#(start),"pageTimings":{"onLoad":1.5}}"#
        let pages = "pages=[\(page)]"
        #expect(texts(read.writableMembers) == [creator, #"comment="c""#, pages, "_key=1"])
        #expect(
            texts(read.writableMembers(redactedBy: Redactor()))
                == [creator, #"comment="c""#, pages.replacing("canary", with: "REDACTED"), "_key=1"]
        )
        let nothing = try await recording(of: archive().replacing(#""entries""#, with: #""pages":null,"entries""#))
        #expect(texts(nothing.writableMembers) == [creator])
        try await withFolder { folder in
            try read.writeHAR(to: "\(folder)/a.har")
            #expect(try Recording(contentsOf: "\(folder)/a.har").members.map(\.name).contains("pages"))
        }
    }

    @Test func redactedEntryHasNoFindings() async throws {
        let changes = [
            "request.url": #""http://a/?%2574oken=canary&token=canary""#, "request.method": #""POST""#,
            "request.postData":
                #"{"mimeType":"x/y","params":[{"name":"state","value":"s"},{"name":"code","value":"c"}]}"#,
        ]
        for mode in [Redactor.Mode.mask, .hash(), .drop] {
            let scrubbed = try await entry(changes).redacted(by: Redactor(mode: mode))
            try await withFolder { folder in
                let path = "\(folder)/a.har"
                try Recording([scrubbed]).writeHAR(to: path)
                let written = try #require(try HARReader(contentsOf: path).next())
                #expect(written.findings() == [])
            }
        }
    }
}
