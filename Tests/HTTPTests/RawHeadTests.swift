import Testing

@testable import BeagleNetHTTP

@Suite struct RawHeadTests {
    private static let block = """
        HTTP/1.1 200 OK\r
        Content-Type-Hint: no\r
        X-Content-Type: no\r
        cOnTent-TYPE:  text/plain; charset=utf-8 \r
        Vary: Accept\r
        Server: b\u{E9}agle\r
        vary: Origin\r
        \r

        """

    private let head: RawHead

    init() throws {
        head = try RawHead(parsing: Array(Self.block.utf8))
    }

    @Test func aFieldIsFoundByItsWholeNameInAnyCase() {
        #expect(head[.contentType] == "text/plain; charset=utf-8")
        #expect(head[.age] == nil)
    }

    /// What is found in one look is what the fields say once they are made.
    @Test(arguments: [HTTPField.Name.contentType, .vary, .server, .age])
    func oneLookSaysWhatAllFieldsSay(name: HTTPField.Name) {
        let found = head[name]
        #expect(found == head.head.headerFields[name])
        #expect(head[name] == found)
    }

    /// `^` differs from `~` as a capital does from its letter.
    @Test func onlyLettersHaveTwoCases() throws {
        let head = try RawHead(parsing: Array("HTTP/1.1 200 OK\r\nX^Y: 1\r\n\r\n".utf8))
        let name = try #require(HTTPField.Name("x~y"))
        #expect(head[name] == nil)
        #expect(head[try #require(HTTPField.Name("x^y"))] == "1")
    }
}
