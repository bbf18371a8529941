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

    @Test func aHeadOfFieldsSaysTheSame() {
        #expect(RawHead(HTTPResponse(status: .ok, headerFields: [.contentType: "a/b"])).contentType == "a/b")
        #expect(RawHead(HTTPResponse(status: .ok)).contentType == nil)
    }
}
