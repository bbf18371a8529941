import ArgumentParser
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// The `beagle raw` command, which sends any HTTP request.
struct RawCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "raw",
        abstract: "Send any HTTP request.",
        discussion: """
            Writes the response body. If the status is 400 or above, the command exits with 22 and writes the body to \
            standard output, even if -o is given.

            EXAMPLE
              beagle raw http://127.0.0.1:8080/echo -d '{"a": 1}' -H 'X-Trace: 7' --json
              echo hello | beagle raw http://127.0.0.1:8080/echo -T -
              beagle raw http://127.0.0.1:8080/file -o file.bin -C -
            """
    )

    @OptionGroup var address: Address

    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: "Request method. (default: GET, POST with -d, PUT with -T)"
    )
    var method: String?

    @Option(
        name: .shortAndLong,
        help:
            """
            Body to send: text, @FILE, or @- for standard input. JSON is sent as application/json, other text as \
            application/x-www-form-urlencoded. Repeated values are joined with '&'.
            """
    )
    var data: [String] = []

    @Option(
        name: [.customShort("T"), .long],
        help: ArgumentHelp(
            """
            Upload this file, or standard input if '-', without loading it into memory. If the URL ends in '/', the \
            file name is appended to it.
            """,
            valueName: "file"
        )
    )
    var uploadFile: String?

    @OptionGroup var continuationFlag: ContinuationFlag
    @OptionGroup var retries: RetryFlags
    @OptionGroup(title: "CACHE OPTIONS") var cache: CacheFlags
    @OptionGroup var response: ResponseFlags
    @OptionGroup var flags: CommonFlags

    var continuation: Continuation? { continuationFlag.continueAt }
    var showsErrorBody: Bool { true }

    func request() throws -> TransferRequest {
        if let uploadFile { return try upload(of: uploadFile) }
        let method = method ?? (data.isEmpty ? "GET" : "POST")
        guard !data.isEmpty else { return try address.build(.rawRequest(.init(method: method))) }
        return try address.build(.rawRequest(.init(method: method, body: try body())))
    }

    func validate() throws {
        if data.contains("@") { throw ValidationError("'-d @' has no file name: write '-d @FILE'.") }
        if data.count > 1, data.contains(where: { $0.hasPrefix("@") }) {
            throw ValidationError("'-d @FILE' cannot be used with another '-d'.")
        }
        if uploadFile == "" { throw ValidationError("'-T' requires a file name.") }
        if uploadFile != nil, !data.isEmpty { throw ValidationError("'-T' and '-d' cannot be used together.") }
    }

    /// Returns an upload request. As in curl, a file name is appended to a URL that ends in `/`, and there is no
    /// content type.
    private func upload(of path: String) throws -> TransferRequest {
        let body: HTTPBody
        if path == "-" {
            body = PipeReader(STDIN_FILENO, path: "standard input").body
        } else {
            let (descriptor, isRegular) = try opened(path)
            let pipe = PipeReader(descriptor, path: path)
            body = isRegular ? .file(path: path) : pipe.body
        }
        var request = try address.build(.rawRequest(.init(method: method ?? "PUT", body: .stream(body))))
        request.head.headerFields[.contentType] = nil
        let target = request.head.path ?? "/"
        let folder = target.prefix { $0 != "?" }
        if folder.hasSuffix("/"), path != "-" {
            let name = URL(fileURLWithPath: path).lastPathComponent
            request.head.path = folder + Self.encoded(name) + target[folder.endIndex...]
        }
        return request
    }

    /// Returns a path segment, percent-encoded except for the unreserved characters of RFC 3986.
    private static func encoded(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return name.utf8.reduce(into: "") { text, byte in
            switch Unicode.Scalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// The maximum number of bytes of a pipe that are held in memory. `-T` has no limit.
    private static let pipeLimit = 1 << 30

    private func body() throws -> Request.Body {
        let data = data.joined(separator: "&")
        switch data {
        case "@-":
            return .data(try FileHandle.standardInput.wholeContents(upTo: Self.pipeLimit, of: "standard input"))
        case _ where data.hasPrefix("@"):
            return try contents(ofFile: String(data.dropFirst()))
        default:
            let isJSON = (try? JSONValue(parsing: data)) != nil
            return .text(data, contentType: isJSON ? "application/json" : "application/x-www-form-urlencoded")
        }
    }

    /// Returns the body of a file. A regular file is read while it is sent. Any other file, such as a pipe, is read
    /// immediately.
    private func contents(ofFile path: String) throws -> Request.Body {
        let (descriptor, isRegular) = try opened(path)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        return isRegular ? .file(path: path) : .data(try file.wholeContents(upTo: Self.pipeLimit, of: path))
    }

    /// Opens a file for reading, and returns whether it is a regular file.
    private func opened(_ path: String) throws -> (descriptor: Int32, isRegular: Bool) {
        var status = stat()
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Failure.unreadable(path, errno) }
        if status.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            throw Failure.unreadable(path, EISDIR)
        }
        return (descriptor, status.st_mode & S_IFMT == S_IFREG)
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
