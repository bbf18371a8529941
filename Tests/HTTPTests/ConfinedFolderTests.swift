import BeagleNetHTTP
import Foundation
import Testing

/// A folder with a file and two symbolic links: `link` to a folder outside of it, and `linked` to a file there.
struct ConfinedFolderTests {
    private let place = FileManager.default.temporaryDirectory.appending(path: "beaglenet-\(UUID().uuidString)").path
    private let folder: ConfinedFolder

    init() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: "\(place)/in/sub", withIntermediateDirectories: true)
        try files.createDirectory(atPath: "\(place)/out", withIntermediateDirectories: true)
        for name in ["in/file", "in/sub/file", "out/file"] {
            try Data(name.utf8).write(to: URL(fileURLWithPath: "\(place)/\(name)"))
        }
        try files.createSymbolicLink(atPath: "\(place)/in/link", withDestinationPath: "../out")
        try files.createSymbolicLink(atPath: "\(place)/in/linked", withDestinationPath: "../out/file")
        folder = ConfinedFolder(path: "\(place)/in")
    }

    private func clear() { try? FileManager.default.removeItem(atPath: place) }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(place)/\(name)", encoding: .utf8)
    }

    @Test func filesAreReadRenamedAndRemoved() throws {
        defer { clear() }
        #expect(try folder.file(reading: "sub/file").contents(upTo: 100) == Data("in/sub/file".utf8))
        #expect(try folder.folder("sub").file(reading: "file").beginning(3) == Data("in/".utf8))
        #expect(try folder.entries()?.sorted() == ["file", "link", "linked", "sub"])
        #expect(try folder.entries(of: "sub") == ["file"])
        #expect(try folder.entries(of: "none") == nil)
        #expect(folder.status(of: "file")?.bytes == 7)
        try folder.rename("file", to: "sub/file")
        #expect(try text("in/sub/file") == "in/file")
        #expect(try folder.remove("sub/file"))
        #expect(try !folder.remove("sub/file"))
        try folder.makeFolder("new")
        try folder.makeFolder("new")
        #expect(folder.status(of: "new")?.type == .folder)
    }

    /// Names that would lead out of the folder.
    @Test(arguments: ["link/file", "linked", "../out/file", "/etc/hostname", "sub/../file", "", ".", "link/new"])
    func nameThatLeavesTheFolderIsRejected(_ name: String) throws {
        defer { clear() }
        let error = #expect(throws: NetworkError.self) { try folder.file(reading: name) }
        #expect(error?.kind == .file)
        if name.hasPrefix("link") { #expect(error?.message.contains("links are not followed") == true) }
        #expect(throws: NetworkError.self) { try folder.file(creating: name) }
        #expect(throws: NetworkError.self) { try folder.file(holding: name) }
        if name != "linked" {
            #expect(throws: NetworkError.self) { try folder.rename("file", to: name) }
            #expect(folder.status(of: name) == nil)
        }
        #expect(try text("out/file") == "out/file")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(place)/out") == ["file"])
    }

    @Test func linkedFolderIsNotFollowed() throws {
        defer { clear() }
        #expect(try folder.entries(of: "link") == nil)
        #expect(try folder.folder("link").entries() == nil)
        #expect(try !folder.remove("link/file"))
        let error = #expect(throws: NetworkError.self) { try folder.makeFolder("link") }
        #expect(error?.message.contains("links are not followed") == true)
        #expect(try text("out/file") == "out/file")
    }

    #if os(Linux)
        @Test func folderMayBeSearchableOnly() throws {
            defer { clear() }
            let (root, sub) = ("\(place)/in", "\(place)/in/sub")
            for path in [root, sub] { try #require(chmod(path, 0o333) == 0) }
            try asOrdinaryUser {
                #expect(throws: NetworkError.self) { try folder.entries() }
                #expect(try folder.file(reading: "sub/file").contents(upTo: 100) == Data("in/sub/file".utf8))
                #expect(folder.status(of: "sub")?.type == .folder)
                try folder.rename("sub/file", to: "file")
                #expect(try folder.remove("file"))
            }
            for path in [root, sub] { chmod(path, 0o700) }
        }

        /// Runs a closure without the privileges of root in the file system, which only this thread loses.
        private func asOrdinaryUser(_ body: () throws -> Void) throws {
            typealias SetUser = @convention(c) (uid_t) -> Int32
            let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
            if getuid() == 0 { _ = setUser(1) }
            defer { _ = setUser(getuid()) }
            try body()
        }
    #endif

    @Test func linkItselfIsReplacedOrRemoved() throws {
        defer { clear() }
        let sink = try FileSink("linked", in: folder)
        try sink.write(Data("new".utf8))
        try sink.commit()
        #expect(folder.status(of: "linked")?.type == .regular)
        #expect(try text("in/linked") == "new")
        #expect(try folder.remove("link"))
        #expect(try text("out/file") == "out/file")
    }

    @Test func pipeOrFolderIsNotReplaced() throws {
        defer { clear() }
        try #require(mkfifo("\(place)/in/pipe", 0o600) == 0)
        for name in ["pipe", "sub"] {
            #expect(throws: NetworkError.self) { try folder.rename("file", to: name) }
            #expect(throws: NetworkError.self) { try FileSink(name, in: folder) }
        }
        #expect(folder.status(of: "pipe")?.type == .other)
        // Opening the pipe doesn't wait for a writer.
        let error = #expect(throws: NetworkError.self) { try folder.file(reading: "pipe") }
        #expect(error?.message.contains("not a regular file") == true)
    }

    @Test func tooLargeFileIsNotRead() throws {
        defer { clear() }
        try #require(truncate("\(place)/in/file", 1 << 42) == 0)
        let file = try folder.file(reading: "file")
        #expect(throws: NetworkError.self) { try file.contents(upTo: 1 << 30) }
        #expect(try file.beginning(4) == Data("in/f".utf8))
        #expect(throws: NetworkError.self) { try PrivateFile("file", in: folder).read() }
    }
}
