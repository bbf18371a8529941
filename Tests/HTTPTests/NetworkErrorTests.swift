import BeagleNetHTTP
import Testing

struct NetworkErrorTests {
    private struct CauseError: Error {
        let secret = "hunter2"
    }

    @Test(arguments: ["dump", "reflecting", "mirror", "description"])
    func noRepresentationOfAnErrorContainsSecrets(_ way: String) throws {
        var error = NetworkError(
            .status,
            during: .response,
            "the status is 401",
            advice: "log in",
            underlying: CauseError()
        )
        error.request = HTTPRequest(
            method: .post,
            scheme: "https",
            authority: "me:hunter2@example.com",
            path: "/a?token=hunter2",
            headerFields: [.authorization: "Bearer hunter2", .cookie: "id=hunter2"]
        )
        error.response = HTTPResponse(status: .unauthorized, headerFields: [.setCookie: "id=hunter2"])
        error.url = "https://example.com/a?token=hunter2"
        error.data = Data("hunter2".utf8)
        var outer = NetworkError(.other, during: .response, "it failed", underlying: error)
        outer.transportCode = 22
        for error in [error, outer] {
            let text = try shown(error, way)
            #expect(!text.contains("hunter2"), "\(text)")
        }
        if way == "dump" {
            let text = try shown(outer, way)
            for word in [
                "status is 401", "log in", "POST https://…@example.com/a?…", "Authorization", "7 bytes", "CauseError",
                "22",
            ] {
                #expect(text.contains(word), "\(word) is not in \(text)")
            }
        }
    }

    private static let messageAndAdviceAreRedactedArguments: [(String, String)] = [
        ("the server said password=hunter2", "the server said password=REDACTED"),
        ("cannot use 'http://u:hunter2#x@h:1'", "cannot use 'http://REDACTED:REDACTED@h:1'"),
        ("//u:hunter2@h/ has no scheme", "//REDACTED:REDACTED@h/ has no scheme"),
        ("the header Authorization is there twice", "the header Authorization is there twice"),
    ]

    @Test(arguments: Self.messageAndAdviceAreRedactedArguments)
    func messageAndAdviceAreRedacted(_ text: String, _ expected: String) {
        var error = NetworkError(.other, during: .build, text, advice: text)
        #expect(error.message == expected && error.advice == expected)
        error.message = "see \(text)"
        error.advice = text
        #expect(error.message == "see \(expected)" && error.advice == expected)
    }

    private func shown(_ error: NetworkError, _ way: String) throws -> String {
        var text = ""
        switch way {
        case "dump": dump(error, to: &text)
        case "reflecting": text = String(reflecting: error) + String(reflecting: [error])
        case "mirror": dump(Array(Mirror(reflecting: error).children), to: &text)
        default: text = "\(error) \([error])"
        }
        return text
    }
}
