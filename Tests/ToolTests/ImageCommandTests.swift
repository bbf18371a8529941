import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct ImageCommandTests {
    @Test func imageReplacesTheFile() async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let path = "\(directory)/logo.png"
                try Data("old".utf8).write(to: URL(fileURLWithPath: path))
                let run = try await beagle("image", "\(url)/img/logo.png", "-o", path)
                #expect(run.exit == 0)
                #expect(run.output.isEmpty)
                #expect(run.errors == "image/png, 32 x 32 pixels, 3.2 kB → \(path)\n")
                let image = try Data(contentsOf: URL(fileURLWithPath: path))
                #expect(image.starts(with: [0x89, 0x50, 0x4E, 0x47]))
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["logo.png"])

                let piped = try await beagle("image", "\(url)/img/logo.png", "-o", "-")
                #expect(piped.output == image)
            }
        }
    }

    @Test func errorPageIsNotWritten() async throws {
        try await withBackend { url in
            try await withDirectory { directory in
                let run = try await beagle("image", "\(url)/img/none.png", "-o", "\(directory)/none.png")
                #expect(run.exit == 22)
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
            }
        }
    }

    /// The header of a PNG with this size.
    private static func png(_ width: Int, _ height: Int) -> Data {
        var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data("IHDR".utf8)
        for side in [width, height] { data += withUnsafeBytes(of: UInt32(side).bigEndian) { Data($0) } }
        return data + Data([8, 6, 0, 0, 0])
    }

    @Test func typeOfARepeatedFieldIsShown() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "text/html, text/plain"], "no image"))
        let run = try await beagle("image", server.url, "-o", "-")
        #expect(run.exit == 101 && run.errors.contains("the response is not an image (text/plain)"), "\(run.errors)")
    }

    @Test func formatAndSizeArePrinted() async throws {
        let image = Self.png(37, 23)
        let server = try LoopbackServer(.response(200, ["Content-Type": "text/plain"], image))
        try await withDirectory { directory in
            for place in ["\(directory)/a.png", "-", "/dev/null"] {
                let run = try await beagle("image", server.url, "-o", place)
                #expect(run.errors.contains("image/png, 37 x 23 pixels, \(image.count) B"))
                #expect(run.errors.contains("(Content-Type is not an image)"))
                #expect(run.output == (place == "-" ? image : Data()))
                let result = try await beagle("image", server.url, "-o", place, "--json").json()["result"]
                #expect(result?["format"] == "image/png")
                #expect(result?["width"]?.integer == 37 && result?["height"]?.integer == 23)
                #expect(result?["orientation"]?.integer == 1 && result?["displayWidth"]?.integer == 37)
                #expect(result?["bytes"]?.integer == Int64(image.count))
            }
        }
    }

    /// The orientation is behind the first 64 KiB, as in many WebP files.
    @Test func rotatedImageIsPrintedAsItIsShown() async throws {
        func chunk(_ type: String, _ content: Data) -> Data {
            Data(type.utf8) + withUnsafeBytes(of: UInt32(content.count).littleEndian) { Data($0) } + content
        }
        let exif = Data("MM\0*\0\0\0\u{8}\0\u{1}".utf8) + Data([1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0])
        let head = Data("WEBP".utf8) + chunk("VP8X", Data([8, 0, 0, 0, 39, 0, 0, 29, 0, 0]))
        let image = chunk("RIFF", head + chunk("VP8 ", Data(count: 200_000)) + chunk("EXIF", exif))
        let server = try LoopbackServer(.response(200, ["Content-Type": "image/webp"], image))
        try await withDirectory { directory in
            let path = "\(directory)/a.webp"
            let run = try await beagle("image", server.url, "-o", path)
            #expect(run.errors.hasPrefix("image/webp, 30 x 40 pixels (coded 40 x 30), "), "\(run.errors)")
            let result = try await beagle("image", server.url, "-o", path, "--json").json()["result"]
            #expect(result?["width"]?.integer == 40 && result?["height"]?.integer == 30)
            #expect(result?["orientation"]?.integer == 6)
            #expect(result?["displayWidth"]?.integer == 30 && result?["displayHeight"]?.integer == 40)
        }
    }

    @Test(
        arguments: [
            "", "x", "<!DOCTYPE html><html>", "{\"_beagleComponent_\":\"a\"}",
            String(repeating: "long text that is none ", count: 10_000),
        ]
    )
    func responseThatIsNotAnImageIsNotWritten(_ text: String) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "image/png"], text))
        try await withDirectory { directory in
            let path = "\(directory)/a.png"
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            for arguments in [["-o", path], ["-o", path, "-C", "-"], ["-o", "-"]] {
                let run = try await beagle(["image", server.url] + arguments)
                #expect(run.exit == 101, "\(run.errors)")
                #expect(run.output.isEmpty)
                #expect(run.errors.contains("the response is not an image (image/png)"))
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("old".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["a.png"])
        }
    }

    @Test func unfollowedRedirectIsNotAnImage() async throws {
        let server = try LoopbackServer(.response(302, ["Location": "/b"], Self.png(37, 23)))
        let run = try await beagle("image", server.url, "-o", "/dev/null", "--max-redirs", "0")
        #expect(run.exit == 101, "\(run.errors)")
    }

    @Test func imageWithTooManyPixelsIsNotWritten() async throws {
        let server = try LoopbackServer(.response(200, [:], Self.png(100_000, 1_001)))
        try await withDirectory { directory in
            let path = "\(directory)/a.png"
            for arguments in [["-o", path], ["-o", path, "-C", "-"], ["-o", "-"]] {
                let run = try await beagle(["image", server.url] + arguments)
                #expect(run.exit == 63)
                #expect(run.output.isEmpty)
                #expect(run.errors.contains("100000 x 1001 pixels") && run.errors.contains("--max-pixels"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
            #expect(try await beagle("image", server.url, "-o", path, "--max-pixels", "100100000").exit == 0)
        }
    }

    enum Ending: CaseIterable {
        case cutOff, interrupted
    }

    @Test(arguments: Ending.allCases)
    func unfinishedTransferLeavesTheFileUnchanged(_ ending: Ending) async throws {
        let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8)
        let begin = LoopbackServer.Response.raw(head + Self.png(37, 23))
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
            if ending == .cutOff { #expect(run.errors.contains("bytes remaining")) }
        }
    }

    @Test func pipeIsWrittenButNotReplaced() async throws {
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

    @Test func symbolicLinkIsKept() async throws {
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

    @Test func unwritablePathIsReported() async throws {
        try await withBackend { url in
            let run = try await beagle("image", "\(url)/img/logo.png", "-o", "/nonexistent/a.png", "--json")
            #expect(run.exit == 23)
            #expect(try run.json()["error"]?["code"] == "file")
            #expect(try run.json()["error"]?["message"]?.string?.contains("/nonexistent") == true)
        }
    }

    @Test func outputFileIsRequired() async throws {
        let run = try await beagle("image", "http://127.0.0.1:1/a.png")
        #expect(run.exit == 64)
        #expect(run.errors.contains("-o FILE"))
    }
}
