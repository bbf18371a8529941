import BeagleNetHTTP
import Foundation
import TestPrograms
import Testing

struct CurlCommandTests {
    private func command(
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/a?b=c",
        _ fields: HTTPFields = [:],
        body: HTTPBody? = nil
    ) -> String {
        let head = HTTPRequest(method: method, scheme: "http", authority: "host", path: path, headerFields: fields)
        return CurlCommand(TransferRequest(head, body: body), Redactor()).description
    }

    @Test func plainRequestIsAShortCommand() {
        #expect(command() == "curl --location --compressed --url 'http://host/a?b=c'")
        #expect(command(.head) == "curl --head --location --compressed --url 'http://host/a?b=c'")
        #expect(command(.delete, "/") == "curl --request DELETE --location --compressed --url http://host/")
    }

    @Test func fieldsAreQuotedAndSecretsOmitted() throws {
        let empty = try #require(HTTPField.Name("X-Empty"))
        let text = command(.get, "/?token=tOpSeCrEt", [.authorization: "Bearer tOpSeCrEt", .accept: "a/b", empty: ""])
        #expect(!text.contains("tOpSeCrEt"))
        #expect(text.contains("--header 'Accept: a/b'"))
        #expect(text.contains("--header 'X-Empty;'"))
    }

    @Test func emptyPartsFormAnEmptyWord() {
        #expect(ShellWord([.text(""), .text("")]).text == "''" && ShellWord([]).text == "''")
        #expect(ShellWord([.text(""), .variable("A"), .text("b c")]).text == #""${A:?}"'b c'"#)
    }

    @Test func bodyIsReferredToByName() {
        #expect(command(.get, body: HTTPBody("x")).hasPrefix("curl --request GET "))
        #expect(command(.post, body: HTTPBody("tOpSeCrEt")).contains(" --data-binary @body --url "))
        #expect(command(.post, body: .file(path: "/tmp/it's")).contains(" --data-binary '@/tmp/it'\\''s' "))
    }

    private static let shellPassesValuesOnUnchangedArguments: [String] = [
        "it's", "$(exit 9)", "`exit 9`", "a b", "!!", "\\", "\"", "*", "~", "a;b", "'\u{301}", "é", "-x",
    ]

    @Test(arguments: Self.shellPassesValuesOnUnchangedArguments)
    func shellPassesValuesOnUnchanged(_ value: String) async throws {
        let text = command(.get, "/", [.accept: value])
        let (_, output) = try await Program.run("/bin/sh", ["-c", "curl() { printf '%s\\n' \"$@\"; }; \(text)"])
        let words = String(decoding: output, as: UTF8.self)
        #expect(words == "--location\n--compressed\n--header\nAccept: \(value)\n--url\nhttp://host/\n")
    }
}
