import ArgumentParser
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// `beagle raw`: any request.
struct RawCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "raw",
        abstract: "Send any request.",
        discussion: """
            Writes the body, also that of an error, which ends with 22. With -o an error's body is not written.

            EXAMPLE
              beagle raw http://127.0.0.1:8080/echo -d '{"a": 1}' -H 'X-Trace: 7' --json
            """
    )

    @OptionGroup var address: Address

    @Option(name: [.customShort("X"), .customLong("request")], help: "The method; GET, or POST with -d.")
    var method: String?

    @Option(
        name: .shortAndLong,
        help:
            """
            The body: text, @FILE, or @- for standard input. JSON says that it is; other text is a form's, and several \
            are joined by &, as with curl.
            """
    )
    var data: [String] = []

    @OptionGroup var flags: CommonFlags

    var showsErrorBody: Bool { true }

    func request() throws -> TransferRequest {
        let method = method ?? (data.isEmpty ? "GET" : "POST")
        guard !data.isEmpty else { return try address.build(.rawRequest(.init(method: method))) }
        return try address.build(.rawRequest(.init(method: method, body: try body())))
    }

    func validate() throws {
        if data.contains("@") { throw ValidationError("'-d @' names no file: write '-d @FILE'.") }
        if data.count > 1, data.contains(where: { $0.hasPrefix("@") }) {
            throw ValidationError("a -d that names a file is the only one")
        }
    }

    private func body() throws -> RequestBody {
        let data = data.joined(separator: "&")
        switch data {
        case "@-":
            return .data(try FileHandle.standardInput.readToEnd() ?? Data())
        case _ where data.hasPrefix("@"):
            return try contents(ofFile: String(data.dropFirst()))
        default:
            let isJSON = (try? JSONValue(parsing: data)) != nil
            return .text(data, contentType: isJSON ? "application/json" : "application/x-www-form-urlencoded")
        }
    }

    /// A regular file is read as it is sent; what else can be read, such as a pipe, at once.
    private func contents(ofFile path: String) throws -> RequestBody {
        var status = stat()
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Failure.unreadable(path, errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(path: path)
        case S_IFDIR: throw Failure.unreadable(path, EISDIR)
        default: return .data(try file.readToEnd() ?? Data())
        }
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        CommandResult(json: received.json, output: received.output)
    }
}

extension Failure {
    fileprivate static func unreadable(_ path: String, _ code: Int32) -> Failure {
        let message = NetworkError.file("cannot read", path, code).message
        return Failure(exit: ExitCode.readFailed, code: "file", phase: .build, message)
    }
}
