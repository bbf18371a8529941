import Testing
import TestClients

@testable import BeagleNet

struct NetworkResponseTests {
    private struct Screen: Decodable, Equatable {
        var title: String
        var children: [Child] = []
        struct Child: Decodable, Equatable { var id: Int }
    }

    private func response(_ bytes: [UInt8], _ contentType: String?) -> NetworkResponse {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = contentType
        return NetworkResponse(data: Data(bytes), response: head)
    }

    private static let textIsDecodedInTheCharsetOfItsContentTypeArguments: [([UInt8], String?, String)] = [
        ([0x67, 0xC3, 0xA9], nil, "gé"),
        ([0x67, 0xC3, 0xA9], "text/plain", "gé"),
        ([0x67, 0xE9], "text/plain; charset=ISO-8859-1", "gé"),
        ([0x67, 0xE9], "text/plain;Charset=\"latin1\"", "gé"),
        ([0xEF, 0xBB, 0xBF, 0x67], "text/plain; charset=utf-8", "g"),
        ([0x67, 0x00], "text/plain; charset=utf-16le", "g"),
        ([0x00, 0x67], "text/plain; charset=utf-16be", "g"),
        ([0xFF, 0xFE, 0x67, 0x00], "text/plain; charset=utf-16", "g"),
        ([], nil, ""),
    ]

    @Test(arguments: Self.textIsDecodedInTheCharsetOfItsContentTypeArguments)
    func textIsDecodedInTheCharsetOfItsContentType(bytes: [UInt8], contentType: String?, expected: String) throws {
        #expect(try response(bytes, contentType).text() == expected)
    }

    private static let invalidBytesForTheCharsetAreADecodingErrorArguments: [([UInt8], String, String)] = [
        ([0xFF], "text/plain", "utf-8"),
        ([0x67, 0x80], "text/plain; charset=us-ascii", "us-ascii"),
        ([0x67], "text/plain; charset=klingon", "klingon"),
    ]

    @Test(arguments: Self.invalidBytesForTheCharsetAreADecodingErrorArguments)
    func invalidBytesForTheCharsetAreADecodingError(bytes: [UInt8], contentType: String, word: String) throws {
        let error = try #require(throws: NetworkError.self) { try response(bytes, contentType).text() }
        #expect(error.kind == .decoding)
        #expect(error.message.contains(word))
        #expect(error.data == Data(bytes))
    }

    @Test func descriptionIsReadableWithoutSecrets() throws {
        var response = try NetworkResponse(json: ["token": "hunter2", "a": 1])
        response.url = "https://u:hunter2@h/?pin=hunter2"
        response.response.status = .init(code: 200, reasonPhrase: "OK password=hunter2")
        response.response.headerFields[.setCookie] = "id=hunter2; Path=/"
        #expect(
            "\(response)" == """
                200 OK password=REDACTED from https://REDACTED:REDACTED@h/?pin=REDACTED
                Content-Type: application/json
                Set-Cookie: id=REDACTED; Path=/

                {"a":1,"token":"REDACTED"}
                """
        )
        #expect("\(self.response([0xFF], "image/png"))" == "200 OK\nContent-Type: image/png\n\n1 byte of image/png")
        let reply = Form.Reply(response)
        let stream = StreamingResponse(response)
        let result = NetworkOperation.Result(response)
        for value in [response, reply, stream, result, result.content, NetworkOperation.Event.result(result)] as [Any] {
            var text = "\(value) \([value])"
            dump(value, to: &text)
            #expect(!text.contains("hunter2") && !text.contains("Box"), "\(text)")
        }
        #expect("\(reply)".hasPrefix("accepted\n200 OK"))
        #expect("\(result)".hasPrefix("network: 200 OK"))
    }

    @Test func operationIsReadableWithoutSecrets() throws {
        let url = try #require(URL(string: "http://h/a?token=hunter2"))
        let operation = NetworkOperation(Request(url: url, type: .fetchComponent))
        #expect("\(operation)" == "component, networkFirst: fetchComponent http://h/a?token=REDACTED")
        var built = operation
        built.transfer.head = HTTPRequest(
            method: .get,
            scheme: "http",
            authority: "h",
            path: "/a?token=hunter2",
            headerFields: [.authorization: "Bearer hunter2"]
        )
        #expect(
            "\(built)" == "component, networkFirst: GET http://h/a?token=REDACTED\nAuthorization: Bearer REDACTED"
        )
        var text = ""
        dump(built, to: &text)
        #expect(!text.contains("hunter2"))
        #expect("\(Form.Input("pin", .text("hunter2")))" == "pin: REDACTED")
    }

    @Test func jsonIsParsedOrReportedAsADecodingError() throws {
        #expect(try NetworkResponse(json: ["a": [1, true, nil]]).json()["a"]?[1] == true)
        let error = try #require(throws: NetworkError.self) { try NetworkResponse(text: "{").json() }
        #expect(error.kind == .decoding)
        #expect(error.response?.status == .ok)
    }

    @Test func valueIsDecodedFromTheBody() throws {
        let response = try NetworkResponse(json: ["title": "Home", "children": [["id": 1]]])
        #expect(try response.decode(as: Screen.self) == Screen(title: "Home", children: [.init(id: 1)]))
    }

    private static let decodingErrorNamesThePositionArguments: [(String, String)] = [
        ("{}", "title is missing"),
        ("{\"title\":1,\"children\":[]}", "expected String at .title"),
        ("{\"title\":\"\",\"children\":[{\"id\":1},{\"id\":null}]}", "at .children[1].id"),
        ("{", "the body cannot be decoded as Screen"),
    ]

    @Test(arguments: Self.decodingErrorNamesThePositionArguments)
    func decodingErrorNamesThePosition(body: String, words: String) throws {
        let error = try #require(throws: NetworkError.self) {
            try NetworkResponse(text: body).decode(as: Screen.self)
        }
        #expect(error.kind == .decoding)
        #expect(error.phase == .decode)
        #expect(error.message.contains(words))
        #expect(error.underlying is DecodingError)
    }

    @Test func customDecoderIsUsed() throws {
        struct Fixed: BodyDecoder {
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                try JSONDecoder().decode(type, from: Data("{\"title\":\"fixed\",\"children\":[]}".utf8))
            }
        }
        #expect(try NetworkResponse(text: "").decode(as: Screen.self, with: Fixed()).title == "fixed")
    }
}
