import Testing

@testable import BeagleNetHTTP

@Suite struct RawHeadTests {
    private func head(_ lines: [String]) throws -> RawHead {
        try RawHead(parsing: Array((["HTTP/1.1 200 OK"] + lines + ["", ""]).joined(separator: "\r\n").utf8))
    }

    @Test func theTypeIsFoundByItsWholeNameInAnyCase() throws {
        let head = try head([
            "Content-Type-Hint: no", "X-Content-Type: no", "cOnTent-TYPE:  text/plain; charset=utf-8 ", "Vary: Accept",
        ])
        #expect(head.contentType == "text/plain; charset=utf-8")
    }

    /// What is found without fields is what they say once they are made.
    @Test(arguments: [
        ["Vary: Accept"], ["Content-Type: text/plain", "content-type: text/html"], ["Content-Type: b\u{E9}agle"],
        ["Content-Type:"], ["Content-Type: a", "Vary: Accept", "Content-Type: b", "Content-Type: c"],
    ])
    func oneLookSaysWhatAllFieldsSay(lines: [String]) throws {
        let head = try head(lines)
        let found = head.contentType
        #expect(found == head.head.headerFields[.contentType])
        #expect(head.contentType == found)
    }

    @Test func aTypeIsThisAndNoMore() throws {
        let json = try head(["content-type:  application/json\t"])
        #expect(json.hasContentType("application/json"))
        for other: StaticString in ["application/jsom", "application/jso", "application/json;", "", "Application/json"]
        {
            #expect(!json.hasContentType(other))
        }
        for lines in [["Content-Type: a", "content-type: b"], ["Content-Type:"], ["Vary: a"]] {
            #expect(try !head(lines).hasContentType("a"))
        }
        #expect(RawHead(HTTPResponse(status: .ok, headerFields: [.contentType: "a/b"])).hasContentType("a/b"))
    }

    @Test func aHeadOfFieldsSaysTheSame() {
        #expect(RawHead(HTTPResponse(status: .ok, headerFields: [.contentType: "a/b"])).contentType == "a/b")
        #expect(RawHead(HTTPResponse(status: .ok)).contentType == nil)
    }
}
