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
            Writes the body, also that of an error, which ends with 22.

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
            let path = String(data.dropFirst())
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw Failure(exit: ExitCode.readFailed, code: "file", phase: .build, "cannot read \(path)")
            }
            return .file(path: path)
        default:
            let isJSON = (try? JSONValue(parsing: data)) != nil
            return .text(data, contentType: isJSON ? "application/json" : "application/x-www-form-urlencoded")
        }
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        CommandResult(json: received.json, output: received.output)
    }
}
