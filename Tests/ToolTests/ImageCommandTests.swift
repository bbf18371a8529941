import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

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
