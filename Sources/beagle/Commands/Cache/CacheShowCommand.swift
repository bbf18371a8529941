import ArgumentParser
import BeagleNet
import BeagleNetDiskCache
import BeagleNetHTTP
import BeagleNetRequestBuilder
import BeagleNetReplay
import Foundation

/// The `beagle cache show` command, which shows the stored responses of a URL.
struct CacheShowCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the stored responses of a URL.",
        discussion: """
            Shows the head, size and age of each response to GET requests for the URL, and whether it is fresh. There \
            are several if the server distinguishes requests by headers ('varies by'). Secrets in headers are \
            redacted. Exits with 106 if no response is stored.

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/cached --cache responses
              beagle cache show responses http://127.0.0.1:8080/cached
              beagle cache show responses http://127.0.0.1:8080/cached -o screen.json
            """
    )

    @OptionGroup var source: CacheSource
    @OptionGroup var address: Address

    @Option(
        name: .customLong("cache-user"),
        help: ArgumentHelp("Show the responses of this user, as given with --cache-user.", valueName: "name")
    )
    var user = ""

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the body of the last response to this file. '-' is standard output.",
            valueName: "file"
        )
    )
    var output: String?

    @Option(
        name: .long,
        help: ArgumentHelp("With -o, write the body of the response with this number.", valueName: "number")
    )
    var number: Int?

    func validate() throws {
        if output == "" { throw ValidationError("'-o' requires a file name.") }
        if output == "-", source.json { throw ValidationError("'-o -' and '--json' cannot be used together.") }
        if number != nil, output == nil { throw ValidationError("'--number' requires '-o'.") }
    }

    func result(in store: DiskResponseStore, on console: Console) async throws -> CommandResult {
        let request = try address.build(.rawRequest(.init()))
        let operation = NetworkOperation.of(request, kind: .raw, partition: user, logger: OffLogger())
        let found = await operation.storedResponses(in: store)
        let responses =
            found.complete.map { ShownResponse($0) } + found.beginnings.map { ShownResponse($0, isPart: true) }
        guard !responses.isEmpty else { throw notStored(request) }
        var result = CommandResult(json: .array(responses.map(\.json)))
        if let output {
            let body = try body(found.complete, request)
            if output == "-" {
                result.output = body
            } else {
                try FileSink.write(body, to: output, isPrivate: true)
                result.note = "\(output): \(byteCount(Int64(body.count)))"
            }
        } else {
            let lines = responses.enumerated().map { $1.lines($0 + 1, console).joined(separator: "\n") + "\n" }
            result.output = Data(lines.joined(separator: "\n").utf8)
        }
        return result
    }

    private func body(_ responses: [StoredResponse], _ request: TransferRequest) throws -> Data {
        let index = (number ?? responses.count) - 1
        if responses.indices.contains(index) { return responses[index].body }
        var failure = notStored(request)
        failure.message =
            responses.isEmpty
            ? "only the beginning of the response is stored"
            : "there is no response \(index + 1); number of complete responses: \(responses.count)"
        failure.advice = nil
        throw failure
    }

    private func notStored(_ request: TransferRequest) -> Failure {
        var failure = Failure(
            exit: ExitCode.notStored,
            code: NetworkError.Kind.notStored.rawValue,
            phase: .file,
            "no response is stored for this URL\(user.isEmpty ? "" : " and user")",
            advice: "list the stored responses with 'beagle cache list'"
                + (user.isEmpty ? "; those of a user need --cache-user" : "")
        )
        failure.url = request.head.urlText
        return failure
    }
}

/// A stored response as `beagle cache show` shows it.
private struct ShownResponse {
    private let response: StoredResponse
    private let isPart: Bool
    private let status: CacheStatus

    /// - Parameter isPart: Whether only the beginning of the body is stored.
    init(_ response: StoredResponse, isPart: Bool = false) {
        (self.response, self.isPart) = (response, isPart)
        status = CachePolicy.status(of: response, now: Date())
    }

    /// The names of the request fields by which the server distinguishes responses.
    private var selecting: [String] { response.selectingFields.map(\.name) }

    private var url: String { Redactor.standard.redact(url: response.url) }

    func lines(_ number: Int, _ console: Console) -> [String] {
        let left = (status.timeToLive ?? .zero).roughText
        let state = isPart ? "only the beginning" : status.isStale ? "stale" : "fresh for \(left)"
        let facts: [String?] = [
            byteCount(Int64(response.body.count)), "\((status.age ?? .zero).roughText) old", state,
            response.isRedirected ? "reached through a redirect" : nil,
            selecting.isEmpty ? nil : "varies by \(selecting.joined(separator: ", "))",
        ]
        return [
            console.styled("\(number)  \(response.head.statusLine)", .bold) + "  \(url.printable)",
            console.styled(facts.compactMap(\.self).joined(separator: " · ").printable, .dim),
        ]
            + Redactor().redact(response.head.headerFields).map { name, value in
                console.styled("< \(name): ".printable, .cyan) + value.printable
            }
    }

    var json: JSONValue {
        let fields = Redactor().redact(response.head.headerFields).map { name, value -> JSONValue in
            [.string(name), .string(value)]
        }
        return [
            "status": .integer(Int64(response.head.status.code)), "url": .string(url), "headers": .array(fields),
            "bytes": .integer(Int64(response.body.count)), "complete": .bool(!isPart),
            "fresh": .bool(!status.isStale), "ageSeconds": .integer(status.age?.components.seconds ?? 0),
            "ttlSeconds": .integer(status.timeToLive?.components.seconds ?? 0),
            "redirected": .bool(response.isRedirected), "varies": .array(selecting.map { .string($0) }),
            "received": .string(Timestamp.text(of: response.responseTime)),
        ]
    }
}
