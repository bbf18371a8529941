import BeagleNetHTTP
import Foundation
import Testing

struct FileSinkTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "beaglenet-\(UUID().uuidString)")
    private var path: String { folder.appending(path: "file").path() }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    private func write(_ text: String, to sink: FileSink) throws {
        try Data(text.utf8).withUnsafeBytes { try sink.write($0) }
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted() }
    }

    @Test func twoSinksOfOnePathAreIndependent() throws {
        let first = try FileSink(path: path, mayBlock: false)
        let second = try FileSink(path: path, mayBlock: false)
        try write("first", to: first)
        try write("second", to: second)
        try first.commit()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
        try second.commit()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "second")
        #expect(try names == ["file"])
    }

    @Test func uncommittedSinkLeavesTheFileUnchanged() throws {
        try Data("before".utf8).write(to: URL(fileURLWithPath: path))
        do {
            let sink = try FileSink(path: path, mayBlock: false)
            try write("half", to: sink)
            #expect(try names.count == 2)
        }
        #expect(try names == ["file"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
    }

    @Test func linkIsKeptAndItsFileIsReplaced() throws {
        let link = folder.appending(path: "link").path()
        try Data("before".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let sink = try FileSink(path: link, mayBlock: false)
        try write("after", to: sink)
        try sink.commit()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "after")
    }

    @Test func deviceIsWrittenToAndKept() throws {
        let sink = try FileSink(path: "/dev/null", mayBlock: false)
        try write("nothing", to: sink)
        try sink.commit()
        let type = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
        #expect(type == .typeCharacterSpecial)
    }

    @Test func pipeIsRejectedIfWaitingIsNotAllowed() throws {
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: NetworkError.self) { try FileSink(path: path, mayBlock: false) }
        #expect(error?.kind == .file)
    }

    /// The stores that a client saves between two runs.
    enum SavedStore: CaseIterable {
        case cookies, hsts, altSvc

        func save(to path: String) throws {
            switch self {
            case .cookies: try CookieJar().save(to: path)
            case .hsts: try HSTSStore().save(to: path)
            case .altSvc: try AltSvcStore().save(to: path)
            }
        }
    }

    @Test(arguments: SavedStore.allCases) func savingAStoreDoesNotReplaceAPipe(_ remembered: SavedStore) throws {
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        try remembered.save(to: path)
        let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        #expect(type != .typeRegular)
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 1)
        #expect(try names == ["file"])
    }

    @Test(arguments: SavedStore.allCases) func savingAStoreKeepsALink(_ remembered: SavedStore) throws {
        let link = folder.appending(path: "link").path()
        try Data("before".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try remembered.save(to: link)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) != "before")
    }

    @Test func pipeCreatedBeforeCommitIsNotReplaced() throws {
        let sink = try FileSink(path: path, mayBlock: false)
        try write("late", to: sink)
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: NetworkError.self) { try sink.commit() }
        #expect(error?.message.contains("not a regular file") == true)
    }

    @Test func pipeIsRejectedAsARequestBody() throws {
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: NetworkError.self) { try OpenFile(reading: path).size() }
        #expect(error?.message.contains("not a regular file") == true)
    }
}
