import BeagleNetReplay
import Foundation
import Testing

struct EntryRedactionTests {
    private func planted() -> LogEntry {
        let secret = SampleRecording.secret
        var entry = SampleRecording.exchange(
            "https://ana:\(secret)@a.example/x?access_token=\(secret)",
            method: "POST",
            at: 0,
            fields: [
                LogEntry.Field("Set-Cookie", "sid=\(secret); Path=/"), LogEntry.Field("Location", "/b?token=\(secret)"),
            ],
            body: SampleRecording.json(#"{"a":[{"refresh_token":"\#(secret)"}],"n":1.10}"#)
        )
        entry.request.fields = [
            LogEntry.Field("authorization", "Bearer \(secret)"), LogEntry.Field("bad name", secret),
            LogEntry.Field(":path", "/x?access_token=\(secret)"),
        ]
        entry.request.body = LogEntry.Body(
            .parameters([
                LogEntry.Parameter(name: "password", value: secret), LogEntry.Parameter(name: "a", value: "b"),
            ])
        )
        entry.response?.redirectURL = "https://a.example/b?token=\(secret)"
        entry.response?.trailers = [LogEntry.Field("X-Auth-Token", secret)]
        entry.response?.interim = [LogEntry.Head(status: 103, fields: [LogEntry.Field("Set-Cookie", "a=\(secret)")])]
        entry.error = "timeout at https://a.example/?token=\(secret)"
        let message = Data(#"{"password":"\#(secret)"}"#.utf8)
        entry.messages = [1, 2].map { LogEntry.Message(.send, at: SampleRecording.start, opcode: $0, message) }
        entry.response?.statusText = "OK token=\(secret)"
        entry.connection = "token=\(secret)"
        entry.serverAddress = "//u:\(secret)@h"
        entry.request.method = "GET token=\(secret)"
        entry.request.httpVersion = "token=\(secret)"
        entry.response?.httpVersion = "token=\(secret)"
        entry.kind = "token=\(secret)"
        entry.response?.body.mediaType = "application/json; token=\(secret)"
        entry.unknownMembers = [
            LogEntry.UnknownMember(
                place: "",
                name: "_initiator",
                json: #"{"url":"https://a.example/?token=\#(secret)"}"#
            ),
            LogEntry.UnknownMember(place: "request", name: "_token", json: #""\#(secret)""#),
        ]
        return entry
    }

    /// The field alone names the encoding, as in archives of Chromium. The second byte of `表` is that of a backslash.
    @Test func bodyIsDecodedAsItsFieldSays() {
        let (name, type) = (Data([0x95, 0x5C]), "application/json; charset=Shift_JIS")
        func body(_ password: String) -> Data {
            Data(#"{"name":""#.utf8) + name + Data(#"","password":"\#(password)"}"#.utf8)
        }
        var entry = SampleRecording.exchange(
            "https://a.example/",
            at: 0,
            fields: [LogEntry.Field("Content-Type", type)],
            body: LogEntry.Body(.data(body(SampleRecording.secret)), mediaType: "application/json")
        )
        entry.request.fields = [LogEntry.Field("Content-Type", type)]
        entry.request.body = entry.response?.body
        let redacted = entry.redacted(by: Redactor())
        #expect(redacted.response?.body.content == .data(body("REDACTED")))
        #expect(redacted.request.body?.content == .data(body("REDACTED")))
        // Half a character can't be decoded.
        entry.response?.body.content = .data(body(SampleRecording.secret) + name.prefix(1))
        #expect(entry.redacted(by: Redactor()).response?.body.content == .omitted("unredactable"))
    }

    @Test func everySecretIsRedacted() {
        let redacted = planted().redacted(by: Redactor())
        #expect(!"\(redacted)".contains(SampleRecording.secret), "\(redacted)")
        #expect(redacted.response?.body.content == .data(Data(#"{"a":[{"refresh_token":"REDACTED"}],"n":1.10}"#.utf8)))
        #expect(redacted.redactions.contains("response.content.text:$.a[*].refresh_token"), "\(redacted.redactions)")
        #expect(redacted.redactions.contains("request.postData.params.password"))
        #expect(redacted.response?.body.mediaType == "application/json; token=REDACTED")
        #expect(redacted.redacted(by: Redactor()) == redacted)
    }

    private func form(_ fields: [(String, String)], _ mode: Redactor.Mode) throws -> [LogEntry.Parameter] {
        var entry = SampleRecording.exchange("https://a.example/", at: 0)
        entry.request.body = LogEntry.Body(.parameters(fields.map { LogEntry.Parameter(name: $0.0, value: $0.1) }))
        let redacted = entry.redacted(by: Redactor(mode: mode))
        guard case .parameters(let fields)? = redacted.request.body?.content else { return [] }
        return fields
    }

    @Test func modeAppliesToFormFields() throws {
        let fields = [
            ("password", "s e&c%72et"), ("a", "b"), ("state", "xyz"), ("password", "s e&crer"), ("p", "s e&c%72et"),
        ]
        #expect(try form(fields, .mask).map(\.value) == ["REDACTED", "b", "xyz", "REDACTED", "s e&c%72et"])
        #expect(try form(fields, .drop).map(\.name) == ["a", "state", "p"])
        let key = Redactor.Key(Data(repeating: 7, count: 32))
        let hashed = try form(fields + [("pin", "s e&crer")], .hash(key)).map(\.value)
        #expect(hashed[0]?.hasPrefix("REDACTED:h:") == true && hashed[0] != hashed[3])
        #expect(hashed[3] == hashed[5])
        #expect(try form([("code", "abc"), ("state", "xyz")], .mask).map(\.value) == ["REDACTED", "REDACTED"])
        #expect(try form([("code", ""), ("state", "xyz")], .mask).map(\.value) == ["", "xyz"])
    }

    @Test func modeAppliesToHeaderFields() {
        var entry = SampleRecording.exchange("https://a.example/", at: 0)
        let names = ["Accept", "X-Auth-Token", "Authorization", "X-A", "X-Api-Key"]
        entry.request.fields = names.map { LogEntry.Field($0, "Basic abcdefgh") }
        #expect(entry.redacted(by: Redactor(mode: .drop)).request.fields.map(\.name) == ["Accept", "X-A"])
        let masked = entry.redacted(by: Redactor()).request.fields.map(\.value)
        #expect(
            masked.count == 5 && masked[1] == "REDACTED" && masked[2] == "Basic REDACTED" && masked[4] == "REDACTED"
        )
    }

    @Test func controlCharactersDoNotHideSecrets() {
        let secret = SampleRecording.secret
        var entry = SampleRecording.exchange("https://a.example/", at: 0)
        entry.request.fields = ["X-Debug", "Authorization"].map { LogEntry.Field($0, "Bearer\u{1}\(secret)") }
        let redacted = entry.redacted(by: Redactor())
        #expect(!"\(redacted)".contains(secret), "\(redacted.request.fields)")
        #expect(entry.findings() == ["request.headers.X-Debug:<Bearer>", "request.headers.Authorization"])
    }

    @Test func namesAndCommentsAreRedactedAsText() {
        let secret = SampleRecording.secret
        var entry = SampleRecording.exchange("https://a.example/", at: 0)
        entry.operationName = "token=\(secret)"
        let field = LogEntry.Parameter(
            name: #"{"password":"\#(secret)"}"#,
            value: "x",
            fileName: "https://a.example/?token=\(secret)",
            contentType: "text/plain; token=\(secret)"
        )
        entry.request.body = LogEntry.Body(.parameters([field]))
        entry.unknownMembers = [
            LogEntry.UnknownMember(place: "request", name: "comment", json: #""password: \#(secret)""#)
        ]
        let redacted = entry.redacted(by: Redactor())
        #expect(!"\(redacted)".contains(secret), "\(redacted)")
        #expect(redacted.unknownMembers.first?.json == #""password: REDACTED""#)
        #expect(redacted.redacted(by: Redactor()) == redacted)
    }

    @Test func remainingSecretsAreFound() {
        #expect(planted().findings().count >= 11, "\(planted().findings())")
        #expect(planted().redacted(by: Redactor()).findings().filter { !$0.contains("bad name") } == [])
    }

    @Test func unredactableBodyIsOmitted() {
        let entry = SampleRecording.exchange("http://a/", at: 0, body: SampleRecording.json(#"{"password":"#))
        #expect(entry.redacted(by: Redactor()).response?.body.content == .omitted("unredactable"))
        #expect(entry.findings().first?.hasPrefix("response.content.text:[") == true)
    }

    @Test func binaryMessageIsUnchanged() {
        var entry = SampleRecording.exchange(
            "https://a.example/",
            at: 0,
            body: LogEntry.Body(
                .omitted("x"),
                mediaType: "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW"
            )
        )
        let bytes = Data((0...255).map { UInt8($0) } + "{\"password\":\"x\"}".utf8)
        entry.messages = [LogEntry.Message(.receive, at: SampleRecording.start, opcode: 2, bytes)]
        #expect(entry.redacted(by: Redactor()) == entry)
    }

    @Test func unredactableMessageIsReplacedByThePlaceholder() {
        var entry = SampleRecording.exchange("https://a.example/", at: 0)
        let text = Data(#"{"password":"#.utf8)
        entry.messages = [LogEntry.Message(.receive, at: SampleRecording.start, opcode: 2, text)]
        #expect(entry.redacted(by: Redactor()).messages.map(\.data) == [Data("REDACTED".utf8)])
    }

    @Test func entryWithoutSecretsIsUnchanged() {
        let entry = SampleRecording.exchange(
            "https://a.example/?q=1",
            at: 0,
            body: SampleRecording.json(#"{"a": 1.10}"#)
        )
        #expect(entry.redacted(by: Redactor()) == entry)
        #expect(entry.findings() == [])
    }
}
