import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct SubmitCommandTests {
    @Test(arguments: [
        ["--encoding", "json"], ["--encoding", "urlencoded"], ["--encoding", "multipart"], ["-F", "age=3"],
        ["-H", "Accept: application/problem+json"],
    ])
    func rejectedFieldsAreListed(_ flags: [String]) async throws {
        try await withBackend { url in
            let run = try await beagle(["submit", "\(url)/signup", "name=", "email=x"] + flags)
            #expect(run.exit == 22)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("422 Unprocessable Content"))
            #expect(run.errors.contains("\n  name   must not be empty\n  email  must be an address"))
        }
    }

    @Test func jsonListsRejectedFields() async throws {
        try await withBackend { url in
            let run = try await beagle("submit", "\(url)/signup", "name=Ana", "email=x", "--json")
            let error = try run.json()["error"]
            #expect(run.exit == 22)
            #expect(error?["status"] == 422)
            #expect(error?["fields"] == ["email": "must be an address such as ana@example.com"])
        }
    }

    @Test func acceptedFormPrintsItsId() async throws {
        try await withBackend { url in
            let run = try await beagle("submit", "\(url)/signup", "name=Ana", "email=ana@example.com")
            #expect(run.exit == 0)
            #expect(run.text == "{\"id\":7}\n")
        }
    }

    @Test func getPutsTheFieldsIntoTheQueryInOrder() async throws {
        try await withBackend { url in
            let run = try await beagle("submit", "\(url)/echo?z=0", "b=1 +&", "a=", "--method", "get")
            #expect(try run.json()["method"] == "GET")
            #expect(try run.json()["query"] == "z=0&b=1%20%2B%26&a=")
        }
    }

    @Test(arguments: [("json", #"{"a":"1"}"#), ("urlencoded", "a=1")])
    func patchPutsTheFieldsIntoTheBody(_ encoding: String, _ body: String) async throws {
        try await withBackend { url in
            let run = try await beagle("submit", "\(url)/echo", "a=1", "-X", "PATCH", "--encoding", encoding)
            #expect(run.exit == 0, "\(run.errors)")
            #expect(try run.json()["method"] == "PATCH")
            #expect(try run.json()["body"] == .string(body))
        }
    }

    @Test func errorsOfTheWholeFormAreListed() async throws {
        let body =
            #"{"errors":[{"field":"name","message":"is taken"},{"field":"name","message":"is odd"},"try later"]}"#
        let server = try LoopbackServer(.response(422, [:], body))
        let run = try await beagle("submit", server.url, "name=Ana")
        #expect(run.errors.contains("\n  name  is taken\n  name  is odd\n  try later\n"))
        let json = try await beagle("submit", server.url, "name=Ana", "--json").json()
        #expect(json["error"]?["fields"] == ["name": "is taken; is odd"])
    }

    @Test func filesAreSentAsPartsOfAMultipartForm() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a;b.png"
            try Data(count: 300_000).write(to: URL(fileURLWithPath: path))
            try await withBackend { url in
                let run = try await beagle(
                    "submit",
                    "\(url)/upload",
                    "title=Sea",
                    "-F",
                    "photo=@\(path)",
                    "-F",
                    "text=@",
                    "-F",
                    "x=y;type=z"
                )
                #expect(run.exit == 64)
                #expect(run.errors.contains("field 2 is neither"))
                let sent = try await beagle(
                    "submit",
                    "\(url)/upload",
                    "title=Sea",
                    "-F",
                    "photo=@\(path)",
                    "-F",
                    "x=y;type=z",
                    "-F",
                    "doc=@\(path);type=text/plain;filename=b\".txt",
                    "-F",
                    "c=@\(path);filename=c"
                )
                #expect(sent.exit == 0, "\(sent.errors)")
                let size = JSONValue.integer(300_000)
                #expect(
                    try sent.json()["parts"] == [
                        ["name": "title", "bytes": 3, "value": "Sea"],
                        ["name": "photo", "bytes": size, "filename": "a;b.png", "type": "image/png"],
                        ["name": "x", "bytes": 8, "value": "y;type=z"],
                        ["name": "doc", "bytes": size, "filename": "b%22.txt", "type": "text/plain"],
                        ["name": "c", "bytes": size, "filename": "c", "type": "image/png"],
                    ]
                )
            }
        }
    }

    private static let invalidFieldsFailBeforeSendingArguments: [([String], Int32, String)] = [
        (["-F", "f=@/nonexistent/file"], 26, "cannot open /nonexistent/file"),
        (["-F", "f=@/"], 26, "not a regular file"),
        (["-F", "=x"], 64, "field 1 is neither"), (["-F", "secret"], 64, "field 1 is neither"),
        (["-F", "a=b", "--encoding", "json"], 64, "--encoding json"),
        (["-F", "f=@/etc/passwd", "-X", "get"], 43, "f is a file"),
    ]

    @Test(arguments: Self.invalidFieldsFailBeforeSendingArguments)
    func invalidFieldsFailBeforeSending(_ flags: [String], _ exit: Int32, _ words: String) async throws {
        let server = try LoopbackServer(.response(200))
        let run = try await beagle(["submit", server.url] + flags)
        #expect(run.exit == exit)
        #expect(run.errors.contains(words), "\(run.errors)")
        #expect(!run.errors.contains("secret"))
        #expect(server.record.connections == 0)
    }

    @Test func longUploadShowsABarOnATerminal() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/photo"
            try Data(count: 600_000).write(to: URL(fileURLWithPath: path))
            try await withBackend { url in
                let terminal = try Terminal()
                let arguments = ["submit", "\(url)/upload", "-F", "photo=@\(path)", "--limit-rate", "300k"]
                let run = try await BeagleProcess(arguments, terminal: terminal.slave).outcome()
                #expect(run.exit == 0)
                #expect(terminal.read().contains("of 600.2 kB"))
            }
        }
    }
}
