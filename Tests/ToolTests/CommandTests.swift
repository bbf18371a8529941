import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct FetchCommandTests {
    @Test func treeIsTheOnlyOutput() async throws {
        try await withBackend { url in
            let run = try await beagle("fetch", "\(url)/details", "--tree")
            #expect(run.exit == 0)
            #expect(
                run.lines == [
                    #"screenComponent  "Details""#,
                    "└─ scrollView",
                    "   ├─ image   /img/logo.png",
                    #"   ├─ text    "A screen that was there before it was asked for""#,
                    #"   └─ button  "Back"  → popView"#,
                    "links 0 · images 1 · forms 0 · unknown 0",
                ]
            )
            #expect(run.errors.isEmpty)
        }
    }

    @Test func screenIsWrittenAsItCame() async throws {
        try await withBackend { url in
            let run = try await beagle("fetch", "/home", "--base", url)
            #expect(run.exit == 0)
            #expect(run.text == "\(DemoScreens.home)\n")
        }
    }

    @Test(arguments: ["/", "/img/logo.png"])
    func whatIsNoScreenEndsWith101(_ path: String) async throws {
        try await withBackend { url in
            let tree = try await beagle("fetch", "\(url)\(path)", "--tree")
            #expect(tree.exit == 101)
            #expect(tree.output.isEmpty)
            #expect(tree.errors.contains("no screen"))

            let plain = try await beagle("fetch", "\(url)\(path)")
            #expect(plain.exit == 101)
            #expect(!plain.output.isEmpty, "what came is shown all the same")
        }
    }

    @Test func knownScreenIsNotSentAgain() async throws {
        try await withBackend { url in
            let head = try await beagle("raw", "\(url)/home", "--json").json()["result"]?["headers"]?.array
            let tag = try #require(head?.first { $0[0] == "ETag" }?[1]?.string)
            let run = try await beagle("fetch", "\(url)/home", "-H", "If-None-Match: \(tag)")
            #expect(run.exit == 0)
            #expect(run.output.isEmpty)
            #expect(run.errors == "304 Not Modified\n")
        }
    }
}

struct SubmitCommandTests {
    @Test(arguments: [
        ["--encoding", "json"], ["--encoding", "urlencoded"], ["-H", "Accept: application/problem+json"],
    ])
    func refusedFieldsAreListed(_ flags: [String]) async throws {
        try await withBackend { url in
            let run = try await BeagleProcess(["submit", "\(url)/signup", "name=", "email=x"] + flags).outcome()
            #expect(run.exit == 22)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("422 Unprocessable Content"))
            #expect(run.errors.contains("\n  name   must not be empty\n  email  must be an address"))
        }
    }

    @Test func refusedFieldsAreInTheJSON() async throws {
        try await withBackend { url in
            let run = try await beagle("submit", "\(url)/signup", "name=Ana", "email=x", "--json")
            let error = try run.json()["error"]
            #expect(run.exit == 22)
            #expect(error?["status"] == 422)
            #expect(error?["fields"] == ["email": "must be an address such as ana@example.com"])
        }
    }

    @Test func acceptedFormAnswersWithItsId() async throws {
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
}

struct ImageCommandTests {
    @Test func imageTakesTheFilesPlace() async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let path = "\(directory)/logo.png"
                try Data("old".utf8).write(to: URL(fileURLWithPath: path))
                let run = try await beagle("image", "\(url)/img/logo.png", "-o", path)
                #expect(run.exit == 0)
                #expect(run.output.isEmpty)
                #expect(run.errors == "image/png, 3.2 kB → \(path)\n")
                let image = try Data(contentsOf: URL(fileURLWithPath: path))
                #expect(image.starts(with: [0x89, 0x50, 0x4E, 0x47]))
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["logo.png"])

                let piped = try await beagle("image", "\(url)/img/logo.png", "-o", "-")
                #expect(piped.output == image)
            }
        }
    }

    @Test func errorPageIsNotTakenForTheImage() async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let run = try await beagle("image", "\(url)/img/none.png", "-o", "\(directory)/none.png")
                #expect(run.exit == 22)
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
            }
        }
    }

    enum Ending: CaseIterable {
        case cutOff, interrupted
    }

    @Test(arguments: Ending.allCases)
    func unfinishedTransferLeavesTheFileAsItWas(_ ending: Ending) async throws {
        let begin = LoopbackServer.Answer.raw("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nsome of it")
        let server = try LoopbackServer(.sequence([begin, ending == .cutOff ? .close : .stall]))
        try await withDirectory { directory in
            let path = "\(directory)/big.png"
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            let process = try BeagleProcess(["image", "\(server.url)/big.png", "-o", path])
            #expect(await server.until { $0.bytesSent > 0 })
            if ending == .interrupted { process.interrupt() }
            let run = await process.outcome()
            #expect(run.exit == (ending == .cutOff ? 18 : 130))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("old".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["big.png"])
            if ending == .cutOff { #expect(run.errors.contains("big.png is as it was")) }
        }
    }

    @Test func pipeIsWrittenToAndNotReplaced() async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let path = "\(directory)/pipe"
                try #require(mkfifo(path, 0o600) == 0)
                let pipe = FileHandle(fileDescriptor: open(path, O_RDWR | O_NONBLOCK), closeOnDealloc: true)
                let run = try await beagle("image", "\(url)/img/logo.png", "-o", path)
                #expect(run.exit == 0)
                #expect(try pipe.read(upToCount: 4) == Data([0x89, 0x50, 0x4E, 0x47]))
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["pipe"])
            }
        }
    }

    @Test func linkStaysALink() async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let (file, link) = ("\(directory)/file.png", "\(directory)/link.png")
                try Data("old".utf8).write(to: URL(fileURLWithPath: file))
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
                #expect(try await beagle("image", "\(url)/img/logo.png", "-o", link).exit == 0)
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file)
                #expect(try Data(contentsOf: URL(fileURLWithPath: file)).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            }
        }
    }

    @Test func placeThatCannotBeWrittenIsSaid() async throws {
        try await withBackend { url in
            let run = try await beagle("image", "\(url)/img/logo.png", "-o", "/nonexistent/a.png", "--json")
            #expect(run.exit == 23)
            #expect(try run.json()["error"]?["code"] == "file")
            #expect(try run.json()["error"]?["message"]?.string?.contains("/nonexistent/a.png") == true)
        }
    }

    @Test func imageNeedsAPlace() async throws {
        let run = try await beagle("image", "http://127.0.0.1:1/a.png")
        #expect(run.exit == 64)
        #expect(run.errors.contains("-o FILE"))
    }
}

struct RawCommandTests {
    @Test func requestArrivesAsDescribed() async throws {
        let server = try LoopbackServer(.response(200, [:], "done"))
        let run = try await beagle(
            "raw",
            "\(server.url)/a?b=c",
            "-X",
            "patch",
            "-d",
            "{\"x\":1}",
            "-H",
            "X-One: 1",
            "-H",
            "User-Agent:",
            "-H",
            "Accept: text/plain"
        )
        #expect(run.text == "done")
        let request = try #require(server.requests.first)
        #expect(request.method == "PATCH")
        #expect(request.target == "/a?b=c")
        #expect(request.body == Data("{\"x\":1}".utf8))
        #expect(request.values(of: "Content-Type") == ["application/json"])
        #expect(request.values(of: "X-One") == ["1"])
        #expect(request.values(of: "Accept") == ["text/plain"])
        #expect(request["User-Agent"] == nil)
    }

    @Test(arguments: ["@-", "@FILE"])
    func bodyComesFromElsewhere(_ source: String) async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let path = "\(directory)/body"
                try Data("from elsewhere".utf8).write(to: URL(fileURLWithPath: path))
                let data = source == "@-" ? source : "@\(path)"
                let run = try await beagle("raw", "\(url)/echo", "-d", data, input: "from elsewhere")
                #expect(try run.json()["body"] == "from elsewhere")
                #expect(try run.json()["method"] == "POST")
            }
        }
    }

    @Test func bodyOfAnErrorIsAResult() async throws {
        try await withBackend { url in
            let run = try await beagle("raw", "\(url)/fail", "-i")
            #expect(run.exit == 22)
            #expect(run.text.hasPrefix("HTTP/1.1 500 Internal Server Error\n"))
            #expect(run.text.contains("\n\n{\"detail\":\"this route always fails\""))
            #expect(run.errors.contains("500 Internal Server Error: this route always fails"))
        }
    }

    @Test func missingFileIsAnErrorBeforeAnythingIsSent() async throws {
        let server = try LoopbackServer(.response(200, [:], ""))
        let run = try await beagle("raw", server.url, "-d", "@/nonexistent/body")
        #expect([23, 26].contains(run.exit))
        #expect(run.errors.contains("/nonexistent/body"))
        #expect(server.record.requestCount == 0)
    }
}

struct ServeCommandTests {
    @Test func urlIsTheFirstLineAndAnInterruptEndsIt() async throws {
        let server = try BeagleProcess(["serve"])
        let url = await server.line()
        #expect(url.hasPrefix("http://127.0.0.1:"))
        #expect(try await beagle("fetch", "\(url)/home").exit == 0)
        server.interrupt()
        #expect(await server.outcome().exit == 130)
    }

    @Test func takenPortIsSaid() async throws {
        try await withBackend { url in
            let port = try #require(url.split(separator: ":").last)
            let run = try await beagle("serve", "--port", String(port))
            #expect(run.exit == 7)
            #expect(run.errors.contains("port \(port)"))
        }
    }

    @Test func headHasTheLengthOfTheBodyAlone() async throws {
        try await withBackend { url in
            let run = try await beagle("raw", "\(url)/home", "-X", "HEAD", "-i")
            #expect(run.text.contains("Content-Length: \(DemoScreens.home.utf8.count + 1)\n"))
            #expect(run.text.hasSuffix("\n\n"))
        }
    }

    @Test func anotherMethodIsRefusedWithThoseAllowed() async throws {
        try await withBackend { url in
            let run = try await beagle("raw", "\(url)/signup", "-X", "DELETE", "-i")
            #expect(run.text.hasPrefix("HTTP/1.1 405 "))
            #expect(run.text.contains("Allow: GET, HEAD, POST, PUT\n"))
        }
    }
}

struct DemoCommandTests {
    @Test func storyIsToldToItsEnd() async throws {
        let run = try await beagle("demo", "--cancels", "100")
        #expect(run.exit == 0)
        #expect(run.errors.isEmpty)
        let steps = run.lines.map { $0.split(separator: " ")[1] }
        #expect(steps == ["backend", "fetch", "image", "submit", "submit", "raw", "swap", "cancel"])
        #expect(run.lines.last?.contains("100 completions") == true)
    }

    @Test func stepsAreInTheJSON() async throws {
        let run = try await beagle("demo", "--cancels", "1", "--json")
        #expect(run.exit == 0)
        #expect(try run.json()["result"]?["steps"]?.array?.count == 8)
    }
}
