import Testing

@testable import BeagleNetHTTP

struct RawHeadTests {
    private func head(_ lines: [String]) throws -> RawHead {
        try RawHead(parsing: Array((["HTTP/1.1 200 OK"] + lines + ["", ""]).joined(separator: "\r\n").utf8))
    }

    @Test func contentTypeIsFoundByItsNameInAnyCase() throws {
        let head = try head([
            "Content-Type-Hint: no", "X-Content-Type: no", "cOnTent-TYPE:  text/plain; charset=utf-8 ", "Vary: Accept",
        ])
        #expect(head.contentType == "text/plain; charset=utf-8")
    }

    private static let contentTypeMatchesThatOfTheFieldsArguments: [[String]] = [
        ["Vary: Accept"], ["Content-Type: text/plain", "content-type: text/html"], ["Content-Type: b\u{E9}agle"],
        ["Content-Type: a/b\r"], ["Content-Type: a/b\u{1}"], ["Content-Type: \u{7F}a/b"], ["Content-Type: a\tb"],
        ["Content-Type:"], ["Content-Type: a", "Vary: Accept", "Content-Type: b", "Content-Type: c"],
    ]

    /// The type that is found without creating fields is that of the created fields.
    @Test(arguments: Self.contentTypeMatchesThatOfTheFieldsArguments)
    func contentTypeMatchesThatOfTheFields(lines: [String]) throws {
        let head = try head(lines)
        let found = head.contentType
        #expect(found == head.head.headerFields[single: .contentType])
        #expect(head.contentType == found)
        #expect(try self.head(lines).hasContentType("a/b") == (found == "a/b"))
    }

    @Test func contentTypeIsComparedExactly() throws {
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

    /// Names and values equal those of the fields, before and after the fields are created.
    @Test func rawNamesAndValuesMatchTheFields() throws {
        let block =
            Array("HTTP/1.1 200 OK\r\nvary: a\r\nX-Own:  b \t\r\nVary:\r\nX-Latin: b".utf8) + [0xE9]
            + Array("agle\r\nX-UTF8: b\u{E9}agle\r\nX-Control: a\u{1}b\u{7F}\r\r\n\r\n".utf8)
        let head = try RawHead(parsing: block)
        func texts() -> [String] {
            var texts: [String] = []
            head.forEachField { texts.append("\($0)=\($1)") }
            return texts
        }
        let unmade = texts()
        #expect(unmade.prefix(3) == ["vary=a", "X-Own=b", "Vary="] && unmade.count == 6)
        #expect(unmade == head.head.headerFields.map { "\($0.name.rawName)=\($0.value)" })
        #expect(texts() == unmade)
    }

    @Test func setCookieBytesAreReturnedUnchanged() throws {
        let block =
            Array("HTTP/1.1 200 OK\r\nset-cookie: a=\u{1}\r\nX-Set-Cookie: no\r\nSet-Cookie:  b=".utf8) + [0xE9, 0x7F]
            + Array(" \r\n\r\nSet-Cookie: body\r\n".utf8)
        var values: [[UInt8]] = []
        try RawHead(parsing: block).forEachSetCookie { values.append(Array($0)) }
        #expect(values == [Array("a=\u{1}".utf8), Array("b=".utf8) + [0xE9, 0x7F]])
        RawHead(HTTPResponse(status: .ok, headerFields: [.setCookie: "c=d"])).forEachSetCookie {
            values.append(Array($0))
        }
        #expect(values.last == Array("c=d".utf8))
    }

    @Test func headMadeOfFieldsHasAContentType() {
        #expect(RawHead(HTTPResponse(status: .ok, headerFields: [.contentType: "a/b"])).contentType == "a/b")
        #expect(RawHead(HTTPResponse(status: .ok)).contentType == nil)
    }
}
