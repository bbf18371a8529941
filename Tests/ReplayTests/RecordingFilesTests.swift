import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct RecordingFilesTests {
    /// Runs `body` with a recording that has one body file, and links and files that must not be read.
    private func withRecording(_ body: (_ recording: Recording, _ folder: String) async throws -> Void) async throws {
        try await withFolder { folder in
            let log = "\(folder)/log"
            for name in [log, "\(log)/bodies", "\(folder)/other"] { mkdir(name, 0o700) }
            try Data("inside".utf8).write(to: URL(filePath: "\(log)/bodies/a.txt"))
            try Data("secret".utf8).write(to: URL(filePath: "\(folder)/secret"))
            try Data("secret".utf8).write(to: URL(filePath: "\(folder)/other/a.txt"))
            symlink("../../secret", "\(log)/bodies/link")
            symlink("a.txt", "\(log)/bodies/near")
            symlink("../other", "\(log)/away")
            mkfifo("\(log)/bodies/pipe", 0o600)
            try await body(Recording([], directory: log), folder)
        }
    }

    private func body(_ file: String) -> LogEntry.Body { LogEntry.Body(.file(file)) }

    @Test func bodyFileOfTheRecordingIsRead() async throws {
        try await withRecording { recording, _ in
            let data = try recording.data(of: body("bodies/a.txt"))
            #expect(data == Data("inside".utf8))
            let stream = try recording.body(of: body("bodies/a.txt"))
            #expect(stream.length == 6)
            // The body can be read repeatedly.
            for _ in 0..<2 { #expect(try await stream.collect() == data) }
        }
    }

    private static let pathsOutsideTheRecordingAreRejectedArguments: [String] = [
        "../secret", "bodies/../../secret", "bodies/link", "bodies/near", "away/a.txt", "/etc/hostname", "bodies",
        "bodies/pipe", "", ".", "./bodies/a.txt", "bodies//a.txt", "bodies/none", "bodies/a.txt/b", "bodies/a.txt\0",
    ]

    @Test(arguments: Self.pathsOutsideTheRecordingAreRejectedArguments)
    func pathsOutsideTheRecordingAreRejected(_ path: String) async throws {
        try await withRecording { recording, _ in
            for read in [
                { () throws in _ = try recording.data(of: body(path)) },
                { () throws in _ = try recording.body(of: body(path)) },
            ] {
                let error = #expect(throws: NetworkError.self) { try read() }
                #expect(error?.kind == .file)
            }
        }
    }

    @Test func devicesAreRejected() {
        let recording = Recording([], directory: "/dev")
        #expect(throws: NetworkError.self) { try recording.data(of: body("zero")) }
    }

    @Test func tooLargeFileIsRejected() async throws {
        try await withRecording { recording, _ in
            let error = #expect(throws: NetworkError.self) { try recording.data(of: body("bodies/a.txt"), upTo: 5) }
            #expect(error?.kind == .tooLarge)
        }
    }

    @Test func unrecordedBodyGivesTheReason() throws {
        let error = #expect(throws: NetworkError.self) {
            try Recording([]).data(of: LogEntry.Body(.omitted("too large")))
        }
        #expect(error?.kind == .notStored)
        #expect(error?.message == "the body was not recorded: too large")
        #expect(throws: NetworkError.self) { try Recording([]).data(of: body("a")) }
        let form = LogEntry.Body(
            .parameters([LogEntry.Parameter(name: "a")]),
            mediaType: "multipart/form-data; boundary=x"
        )
        #expect(throws: NetworkError.self) { try Recording([]).data(of: form) }
    }

    @Test func archiveFilesAreReadFromItsDirectory() async throws {
        try await withRecording { _, folder in
            let path = "\(folder)/log/x.har"
            let text = archive(["response.content": #"{"size":6,"mimeType":"text/plain","_file":"bodies/a.txt"}"#])
            try Data(text.utf8).write(to: URL(filePath: path))
            let recording = try Recording(contentsOf: path)
            let body = try #require(recording.entries.first?.response?.body)
            let data = try recording.data(of: body)
            #expect(data == Data("inside".utf8))
        }
    }
}
